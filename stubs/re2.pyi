"""What Comanda uses of google-re2, which brings no types."""

class error(Exception): ...  # noqa: N801 - its own name

class Options:
    log_errors: bool

def compile(pattern: str, options: Options | None = None) -> object: ...
def fullmatch(pattern: str, text: str) -> object | None: ...
