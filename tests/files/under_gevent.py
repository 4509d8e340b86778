"""The bucket as a web worker uses it, in a process of its own that is patched as one is.

`python -m tests.files.under_gevent ADDRESS` opens twenty objects of a slow storage at once, and
counts meanwhile how often others have their turn; it prints a report as JSON.
"""

# ruff: noqa: E402
from gevent import monkey

monkey.patch_all()

import json
import sys
import time

import gevent

from app.config import Settings
from app.files.storage import make_storage, new_key

TICK = 0.02


def main() -> None:
    settings = Settings(
        s3_bucket="house",
        s3_endpoint_url=sys.argv[1],
        s3_access_key_id="id",
        s3_secret_access_key="secret",
    )
    storage = make_storage(settings)
    # What is loaded and made with the first request is no fault of the storage's.
    storage.open(new_key())
    longest, last = 0.0, time.monotonic()

    def tick() -> None:
        nonlocal longest, last
        while True:
            gevent.sleep(TICK)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    ticking = gevent.spawn(tick)
    started = last = time.monotonic()
    opened = [gevent.spawn(storage.open, new_key()) for _ in range(20)]
    contents = [each.get().read().decode() for each in opened]
    seconds = time.monotonic() - started
    ticking.kill()
    print(json.dumps({"contents": contents, "seconds": seconds, "longest": longest}))


if __name__ == "__main__":
    main()
