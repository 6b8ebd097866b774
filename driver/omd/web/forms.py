"""The form that a request brings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.requests import Request

LONGEST = 1_000_000  # bytes


async def posted(request: Request) -> dict[str, str]:
    """Return the fields of a form; of those that come twice, the last one.

    Starlette's own reader needs a package more, for files that nobody sends here.
    """
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST:
            raise HTTPException(413, "the form is too long")
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict"))
    except ValueError as error:
        raise HTTPException(400, "the form is not URL-encoded UTF-8") from error
