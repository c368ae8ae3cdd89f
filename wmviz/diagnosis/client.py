"""Read-only calls to Flink's REST interface: each with a time limit, a size limit, and a sentence where it fails."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from wmviz.times import shown

LIMIT_S = 10.0
MOST_BYTES = 32 * 2**20
CHUNK_BYTES = 2**16
LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")
_ENDING = re.compile(r"/(jobs(/overview)?|overview|config|index\.html)/?$")
"""What an address may end in that was copied from a browser or a script."""
JOB_IN_ADDRESS = re.compile(r"\b[0-9a-f]{32}\b")


class DiagnosisError(RuntimeError):
    """A job cannot be read; the message is a sentence.

    Attributes
    ----------
    status
        What the server answered, as 404, or None if it was no answer of Flink.
    """

    def __init__(self, sentence: str, status: int | None = None) -> None:
        """Make an error of its sentence."""
        super().__init__(sentence)
        self.status = status

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"DiagnosisError: {self}"]


@contextmanager
def like_flink(address: str) -> Iterator[None]:
    """Turn what goes wrong with an answer of another form than Flink's into a sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        what = f"{type(error).__name__} {' '.join(str(error).split())}"
        raise DiagnosisError(f"{address} answers, but not like Flink 1.18 or newer: {what}") from None


class Client:
    """Flink's REST interface at an address; it sends GET and nothing else.

    Parameters
    ----------
    address
        As ``"http://localhost:8081"`` or ``"localhost:8081"``; what a browser shows for a job is understood too.
    token
        A bearer token.
    user, password
        For basic authentication; they may also stand in the address.
    ca
        File of certificates to trust, for TLS with an authority of your own.
    limit_s
        Seconds that one answer may take.

    Raises
    ------
    DiagnosisError
        If that is no address, or the file of certificates cannot be read.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        user: str | None = None,
        password: str | None = None,
        ca: str | Path | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        """Keep whom to ask; nothing is asked yet."""
        text = address.strip()
        try:
            parts = urlsplit(text if "://" in text else f"http://{text}")
            default = 443 if parts.scheme == "https" else 80 if "://" in text else 8081
            host, port = parts.hostname or "", default if parts.port is None else parts.port
        except ValueError:
            host = ""
        if re.match(r"https?(:/(?!/)|/)", text):  # a slash or a colon too few; "http" is no host then
            host = ""
        if not host or parts.scheme not in ("http", "https"):
            raise DiagnosisError(f'{shown(address)} is no address of Flink; write one like "http://localhost:8081"')
        found = JOB_IN_ADDRESS.search(f"{parts.path}#{parts.fragment}")
        self.job = found[0] if found else None
        path = "" if found else _ENDING.sub("", parts.path).rstrip("/")
        if found and not parts.fragment:
            path = re.sub(r"(/v1)?/jobs/$", "", parts.path[: parts.path.index(found[0])])
        elif found:
            path = parts.path.rstrip("/")
        self._path = path
        self._host, self._port, self._secure = host, port, parts.scheme == "https"
        self.address = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{path}"
        if not 0 < limit_s <= 3600:
            raise DiagnosisError(f"the limit for one answer is {limit_s:g}; write seconds above 0, up to 3600")
        self._limit_s = limit_s
        self._deadline: float | None = None
        self._tls = _tls(ca) if self._secure else None
        if ca is not None and not self._secure:
            raise DiagnosisError(f"{self.address} is read without TLS, so ca has no use; write https:// in front")
        user, password = user or unquote(parts.username or ""), password or unquote(parts.password or "")
        self._headers = _headers(token, user, password)
        self.is_exposed = "Authorization" in self._headers and not self._secure and not LOOPBACK.fullmatch(host)
        """Whether a token or a password is sent so that everyone on the way can read it."""

    def limit(self, seconds: float) -> None:
        """Let all calls together end within so many seconds from now."""
        self._deadline = time.monotonic() + seconds

    def get(self, path: str) -> Any:
        """Give what a path answers.

        Raises
        ------
        DiagnosisError
            If nothing answers in time, the answer is too long, no JSON, or an error.
        """
        now = time.monotonic()
        until = now + self._limit_s
        if self._deadline is not None:
            until = min(until, self._deadline)
            if until <= now:
                raise DiagnosisError(f"{self.address} took too long: the time for all answers together is over.")
        status, kind, body = self._ask(path, until)
        return self._read(path, status, kind, body)

    def _ask(self, path: str, until: float) -> tuple[int, str, bytes]:
        limit_s = max(until - time.monotonic(), 0.05)
        connection: http.client.HTTPConnection
        if self._tls is not None:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=limit_s, context=self._tls)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=limit_s)
        try:
            connection.request("GET", self._path + path, headers=self._headers)
            answer = connection.getresponse()
            body = bytearray()
            while chunk := answer.read1(CHUNK_BYTES):
                body += chunk
                if len(body) > MOST_BYTES:
                    raise DiagnosisError(
                        f"{self.address}{path} answers with more than {MOST_BYTES >> 20} MB; that is not read."
                    )
                if time.monotonic() > until:
                    raise TimeoutError
            if answer.length:
                raise DiagnosisError(f"{self.address}{path} stops in the middle of its answer.")
            return answer.status, answer.headers.get("Location") or "", bytes(body)
        except TimeoutError:
            raise DiagnosisError(
                f"{self.address}{path} did not answer within {self._limit_s:g} s; "
                "is it Flink's REST port, and is the JobManager alive?"
            ) from None
        except ssl.SSLCertVerificationError as error:
            raise DiagnosisError(
                f"The certificate of {self.address} is not trusted ({error.verify_message}); "
                "name the file of your authority's certificate as ca."
            ) from None
        except ssl.SSLError as error:
            reason = error.reason or "error"
            raise DiagnosisError(f"{self.address} does not speak TLS ({reason}); try http:// in front") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DiagnosisError(self._no_answer(error)) from None
        finally:
            connection.close()

    def _no_answer(self, error: Exception) -> str:
        if isinstance(error, ConnectionRefusedError):
            reason = "nothing listens on that port; is the address right, and does the cluster run?"
        elif isinstance(error, http.client.BadStatusLine):
            reason = "what answers there does not speak HTTP; if it speaks TLS, write https:// in front"
        else:
            reason = f"{str(error) or type(error).__name__}."
        return f"No Flink answers at {self.address}: {reason}"

    def _read(self, path: str, status: int, moved_to: str, body: bytes) -> Any:
        where = f"{self.address}{path}"
        if 300 <= status < 400:
            raise DiagnosisError(
                f"{where} sends on to {shown(moved_to)}; give that address instead. "
                "If it is a page to log in, send a token.",
                status,
            )
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            data = None
        if status in (401, 403):
            asked = status == 401 and "Authorization" not in self._headers
            how = "send a token, or user and password" if asked else "what was sent does not open it"
            raise DiagnosisError(f"{where} answers {status}: it wants to know who asks; {how}.", status)
        if status >= 400:
            raise DiagnosisError(f"{where} answers {status}: {_reason(data, body)}", status)
        if data is None:
            page = body.lstrip()[:1] == b"<"
            what = "; it is a web page. If it asks to log in, send a token, or user and password" if page else ""
            raise DiagnosisError(f"{where} answers, but not like Flink: {_plain(body)!r}{what}", status)
        return data


def _headers(token: str | None, user: str, password: str) -> dict[str, str]:
    headers = {"Accept": "application/json", "Cache-Control": "no-cache"}
    if token is not None:
        if user:
            raise DiagnosisError("Give a token, or user and password, not both.")
        if not token.strip().isascii() or any(c.isspace() for c in token.strip()):
            raise DiagnosisError("The token has a blank or a letter that no token has; write it without “Bearer”.")
        headers["Authorization"] = f"Bearer {token.strip()}"
    elif user or password:
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers["Authorization"] = f"Basic {pair}"
    return headers


def _tls(ca: str | Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "strerror", None) or "it holds no certificates"
        raise DiagnosisError(f"The certificates in {shown(str(ca))} cannot be read: {reason}") from None


def _reason(data: Any, body: bytes) -> str:
    """Give the first line of what Flink, or whatever answered, says about an error."""
    errors = data.get("errors") if isinstance(data, dict) else None
    if isinstance(errors, list) and errors:
        return next((line for line in str(errors[0]).splitlines() if line.strip()), "no reason given")
    return repr(_plain(body)) if body else "no reason given"


def _plain(body: bytes) -> str:
    """Give the words of a page without its marks."""
    text = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", body[:4000].decode(errors="replace"), flags=re.S | re.I)
    words = " ".join(text.split()) or "an empty answer"
    return words if len(words) <= 120 else f"{words[:117]}..."
