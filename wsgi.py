"""The entry point of web servers and of the `flask` command."""

import os
import sys

from app import create_app
from app.errors import ConfigurationError

try:
    app = create_app()
except ConfigurationError as error:
    # Somebody at a terminal reads what `make run` says. A web server gets the error itself:
    # gunicorn gives up at one, while a worker that just exits is started again for ever.
    if os.environ.get("FLASK_RUN_FROM_CLI") != "true":
        raise
    sys.exit(str(error))
