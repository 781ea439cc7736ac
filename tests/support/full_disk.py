"""A disk that is full, as far as a process can have one to itself."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(room=4096):
    """No file may become larger than so many bytes meanwhile; writing more fails as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
