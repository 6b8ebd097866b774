"""How OMD is installed by pip. What names a package, here and in the documents, is made from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec

DISTRIBUTION = "pgomd"

# Whether the name is on the registry; until then pip installs what is in a clone of the repository.
# A release sets it, and `make generate` writes the documents anew.
PUBLISHED = False


_MAY_LACK = ContextVar("may_lack", default=False)


@contextmanager
def may_lack_extras() -> Iterator[None]:
    """Import a package of an extra inside, whether what it needs is there or not."""
    before = _MAY_LACK.set(True)
    try:
        yield
    finally:
        _MAY_LACK.reset(before)


def require(name: str, extra: str) -> None:
    """Raise where a package is not there that an import needs.

    Raises:
        ModuleNotFoundError: with the command that installs the extra.
    """
    if not _MAY_LACK.get() and find_spec(name) is None:
        raise ModuleNotFoundError(f"{name} is not installed. Hint: {install(extra)}", name=name)


def requirement(extra: str = "", *, published: bool = PUBLISHED) -> str:
    """Return what pip installs, quoted for a shell: OMD with an extra."""
    name = DISTRIBUTION if published else "."
    return f"'{name}[{extra}]'" if extra else name


def install(extra: str = "", *, options: str = "", published: bool = PUBLISHED) -> str:
    """Return the command that installs OMD with an extra, as a hint names it.

    Args:
        extra: the extra; empty for the core.
        options: of pip.
        published: whether the name is on the registry.
    """
    command = " ".join(
        part for part in ("pip install", options, requirement(extra, published=published)) if part
    )
    return command if published else f"{command} (in the clone of OMD)"


def install_version(major: int, *, published: bool = PUBLISHED) -> str:
    """Return the command that installs the newest of a major version."""
    if published:
        return f"pip install '{DISTRIBUTION}=={major}.*'"
    return f"git switch --detach v{major}.0.0 && pip install . (in the clone of OMD)"
