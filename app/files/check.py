"""Whether the storage of files does all that it will be asked for, for `flask doctor`."""

from __future__ import annotations

import tempfile

from app.db import utc_now
from app.extensions import Services
from app.files.storage import Storage, StorageAway, files_folder, new_key
from app.observability.health import Finding

BUCKET_FIX = (
    "Check S3_ENDPOINT_URL, S3_REGION, S3_BUCKET and the keys; they must be allowed to get, put"
    " and delete its objects, and to list the bucket."
)
FOLDER_FIX = "Give it to the user that Comanda runs as, and look whether the disk is full."


def check_files(on: Services) -> Finding:
    """Look at the bucket, or at the folder, by writing something that is gone again at once."""
    bucket = on.settings.s3_bucket
    if not bucket:
        return _check_folder(on)
    name = f"the bucket {bucket} at {on.settings.s3_endpoint_url or 'Amazon S3'}"
    try:
        _try_out(on.files)
    except StorageAway as error:
        return Finding("files", False, f"{name}: {error.reason}", BUCKET_FIX)
    return Finding("files", True, f"{name} is written, read, listed and cleared")


def _try_out(storage: Storage) -> None:
    """
    Raises:
        StorageAway: it does not do something that uploads or the clean-up need.
    """
    name, content = new_key(), b"Written by flask doctor."
    storage.put(name, content)
    try:
        with storage.open(name) as file:
            if file.read() != content:
                raise StorageAway("what was read is not what was written")
    except FileNotFoundError:
        raise StorageAway("what was written is not there") from None
    finally:
        storage.remove(name)
    next(storage.old_names(utc_now()), None)
    try:
        # Who may not list a bucket is told that everything that is missing is forbidden.
        storage.open(name).close()
    except FileNotFoundError:
        return
    raise StorageAway("what was removed is still there")


def _check_folder(on: Services) -> Finding:
    folder = files_folder(on.settings)
    if not folder.exists():
        return Finding("files", True, f"{folder}, made with the first upload")
    try:
        # Without a name: whoever looks may be another user than the one it belongs to.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"Written by flask doctor.")
    except OSError as error:
        detail = f"{folder} cannot be written: {error.strerror or error}"
        return Finding("files", False, detail, FOLDER_FIX)
    return Finding("files", True, f"{folder} is written")
