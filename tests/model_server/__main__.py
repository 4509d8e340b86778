"""`python -m tests.model_server --port 9100`, and OPENAI_BASE_URL=http://127.0.0.1:9100/v1."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from tests.model_server.assistant import PlausibleAssistant
from tests.model_server.loading import load_scripts
from tests.model_server.script import Say, Script, benchmark, scenario
from tests.model_server.server import ModelServer


def main() -> None:
    """Serve until Ctrl-C or SIGTERM."""
    options = _options()
    default: Script = PlausibleAssistant(options.delay)
    if options.benchmark:
        default = benchmark()
    elif options.words:
        default = scenario(Say([f"word{n} " for n in range(options.words)], delay=options.delay))
    scripts = [script for path in options.script for script in load_scripts(path)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server = ModelServer(
        *scripts,
        host=options.host,
        port=options.port,
        embedding_dimensions=options.dimensions,
        default=default,
    )
    with server:
        print(f"OPENAI_BASE_URL={server.base_url}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("stopped", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.model_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--script", type=Path, action="append", default=[], help=".py or .json")
    parser.add_argument("--benchmark", action="store_true", help="100 ms, then 100 tokens in 2 s")
    parser.add_argument("--words", type=int, help="say so many numbered words")
    parser.add_argument("--delay", type=float, default=0.03, help="seconds between two words")
    parser.add_argument("--dimensions", type=int, default=1536, help="size of an embedding")
    return parser.parse_args()


if __name__ == "__main__":
    main()
