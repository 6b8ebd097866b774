"""The page as an ASGI application: ``omd.web:app``. It needs the extra web."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.programs.web.application import app as app

__all__, __getattr__, __dir__ = lazily(__name__, {"omd.programs.web.application": ["app"]})
