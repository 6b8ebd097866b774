"""Sends events to webhooks, signed as Standard Webhooks say."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.parse import SplitResult, quote, unquote, urlsplit

from omd._core.version import __version__
from omd.programs.sender.dialing import Connection, NotPublic, TLSConnection
from omd.programs.sender.sender import Outcome, Wait, http_outcome
from omd.rooms.event.rows import TakeEventsRow

TIMEOUT = 10.0  # seconds, for all of one request
SECRETS = "OMD_SECRET_"  # how the names of the variables begin that may sign
_LONGEST_ANSWER = 4096  # bytes that are read of an answer
# What http.client raises for a connection that the receiver has closed since the last event.
_CLOSED = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)

_TYPES = {"TEXT": "application/json", None: "application/cloudevents+json; charset=utf-8"}


class Webhook:
    """Posts the body of an event to a URL; it follows no redirect.

    Args:
        url: where to.
        format: TEXT, or a CloudEvent.
        secret_name: the environment variable OMD_SECRET_… with the secret that signs, whsec_ and
            base64; several secrets, for a change of them, stand with blanks between them. None:
            nothing is signed.
        allowed: prefixes of URLs; without any, all whose address is public.
        timeout: seconds for all of one request.
        environment: where the secret is; by default that of the process.
    """

    def __init__(
        self,
        url: str,
        *,
        format: str | None = None,  # noqa: A002 - the name of the column
        secret_name: str | None = None,
        allowed: Sequence[str] = (),
        timeout: float | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.timeout = TIMEOUT if timeout is None else timeout
        self._url = url
        self._format = format
        self._secret_name = secret_name
        self._allowed = allowed
        self._environment = environment
        self._connection: http.client.HTTPConnection | None = None

    def send(self, event: TakeEventsRow) -> Outcome:
        """Post an event, once."""
        body = event.body.encode()
        try:
            address = _address(self._url)
            if self._allowed and not any(is_below(self._url, prefix) for prefix in self._allowed):
                return Wait("its URL is not below one of --allow-url")
            headers = {
                "Content-Type": _TYPES.get(self._format, _TYPES[None]),
                "User-Agent": f"omd/{__version__}",
                **self._signature(event, body),
            }
        except ValueError as error:
            return Wait(str(error))
        try:
            return self._post(address, body, headers)
        except TimeoutError:
            return Wait(f"no answer within {self.timeout:g} s")
        except OSError as error:
            return Wait(_why(error))
        except http.client.HTTPException as error:
            return Wait(f"no answer of HTTP: {type(error).__name__}")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _signature(self, event: TakeEventsRow, body: bytes) -> dict[str, str]:
        identity = _identity(event)
        headers = {"webhook-id": identity}
        if self._secret_name is None:
            return headers
        # Who registers a sink reads this problem, and does not learn which variables there are.
        problem = f"p_secret_name names no variable {SECRETS}… of the sender with whsec_ and base64"
        if not self._secret_name.startswith(SECRETS):
            raise ValueError(problem)
        secrets = self._environment.get(self._secret_name, "").split()
        if not secrets:
            raise ValueError(problem)
        try:
            return headers | signed(identity, int(time.time()), body, secrets)
        except ValueError:  # binascii.Error is one
            raise ValueError(problem) from None

    def _post(self, address: SplitResult, body: bytes, headers: Mapping[str, str]) -> Outcome:
        until = time.monotonic() + self.timeout
        if self._connection is not None:  # the receiver may have closed it meanwhile
            try:
                return self._exchange(self._connection, address, body, headers, until)
            except _CLOSED:
                self.close()
                if time.monotonic() >= until:
                    raise TimeoutError from None
        kind = TLSConnection if address.scheme == "https" else Connection
        self._connection = kind(
            address.hostname or "",
            _port(address),
            until - time.monotonic(),
            anywhere=bool(self._allowed),
        )
        return self._exchange(self._connection, address, body, headers, until)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        address: SplitResult,
        body: bytes,
        headers: Mapping[str, str],
        until: float,
    ) -> Outcome:
        has_answered = False
        with _Deadline(connection, until) as deadline:
            try:
                if connection.sock is None:
                    connection.connect()
                    if deadline.is_over:  # there was nothing yet that could be broken
                        raise TimeoutError
                connection.request("POST", _target(address), body, dict(headers))
                response = connection.getresponse()
                answer = response.read(_LONGEST_ANSWER)
                has_answered = response.isclosed()
            except (OSError, http.client.HTTPException):
                if deadline.is_over:
                    raise TimeoutError from None
                raise
            finally:
                # What was not read to its end can't be used again.
                if not has_answered:
                    self.close()
        return http_outcome(
            response.status, answer.decode(errors="replace"), response.headers.get("Retry-After")
        )


class _Deadline:
    """Breaks a connection at a moment: a receiver that answers a byte at a time holds nobody up."""

    def __init__(self, connection: http.client.HTTPConnection, until: float) -> None:
        self.is_over = False
        self._connection = connection
        self._timer = threading.Timer(max(until - time.monotonic(), 0.0), self._break)
        self._timer.daemon = True

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _break(self) -> None:
        self.is_over = True
        sock = self._connection.sock
        if sock is not None:
            with suppress(OSError):  # it is closed already
                # Of a socket with TLS this leaves the encryption alone, and wakes who reads.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def signed(identity: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers of Standard Webhooks.

    Args:
        identity: of the event, the same however often it is sent.
        timestamp: seconds since 1970.
        body: what is sent.
        secrets: whsec_ and base64; each gives a signature.

    Raises:
        ValueError: a secret is not base64.
    """
    content = b".".join([identity.encode(), str(timestamp).encode(), body])
    signatures = [
        base64.b64encode(
            hmac.new(
                base64.b64decode(secret.removeprefix("whsec_"), validate=True),
                content,
                hashlib.sha256,
            ).digest()
        ).decode()
        for secret in secrets
    ]
    return {
        "webhook-id": identity,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def is_below(url: str, prefix: str) -> bool:
    """Return whether a URL has the scheme, host and port of a prefix, and a path below its own."""
    try:
        place, allowed = _address(url), _address(prefix)
    except ValueError:
        return False
    segments = unquote(place.path).replace("\\", "/").split("/")
    if any(segment in (".", "..") for segment in segments):
        return False
    path = allowed.path if allowed.path.endswith("/") else f"{allowed.path}/"
    return _host(place) == _host(allowed) and (
        place.path == allowed.path or place.path.startswith(path)
    )


def _address(url: str) -> SplitResult:
    try:
        address = urlsplit(url)
        _ = address.port
    except ValueError:
        raise ValueError("its URL is malformed") from None
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ValueError("its URL does not begin with http:// or https:// and a host")
    if address.username is not None or address.password is not None:
        raise ValueError("its URL has a user or a password, which everybody could read")
    return address


def _host(address: SplitResult) -> tuple[str, str | None, int]:
    return address.scheme, address.hostname, _port(address)


def _port(address: SplitResult) -> int:
    return address.port or (443 if address.scheme == "https" else 80)


def _target(address: SplitResult) -> str:
    target = address.path or "/"
    if address.query:
        target += f"?{address.query}"
    return quote(target, safe="%/:=&?~+!$,;'@()*[]-._")


def _identity(event: TakeEventsRow) -> str:
    """Return the id of a CloudEvent; a text has none, and gets one of the same kind."""
    document = json.loads(event.body)
    if "specversion" in document:
        return str(document["id"])
    moment = event.event_datetime.strftime("%Y%m%dT%H%M%S%fZ")
    return f"{event.event_number}/{event.event_type}/{event.subject_id}/{moment}"


def _why(error: OSError) -> str:
    """Return what is wrong with a connection, without names of files."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    if isinstance(error, NotPublic):
        return "its host has no public address, and no --allow-url names it"
    if isinstance(error, socket.gaierror):
        return "its host is not known"
    return f"no connection: {error.strerror or type(error).__name__}"
