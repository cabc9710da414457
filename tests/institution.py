"""An institution's log-in for tests: a real HTTP server that speaks OpenID Connect, scripted by its attributes."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

jwt = pytest.importorskip("jwt", reason="the extra oidc is not installed")  # nor is what imports this run
CLIENT, SECRET = "summhay", "a secret of the institution"


class Institution:
    """Who logs in there is `person`; `claims` replaces what the token says, `key` what signs it."""

    def __init__(self, port: int) -> None:
        """Knows Ben, whose address is verified."""
        self.issuer = f"http://127.0.0.1:{port}"
        self.person: dict[str, Any] = {"sub": "b-17", "email": "Ben@Example.org", "email_verified": True}
        self.claims: dict[str, Any] = {}
        self.published = self.key = rsa.generate_private_key(65537, 2048)
        self.is_broken = False
        self._asked: dict[str, dict[str, str]] = {}

    def description(self) -> dict[str, Any]:
        """What is at the well-known address."""
        names = {"authorization_endpoint": "log-in", "token_endpoint": "token", "userinfo_endpoint": "about"}
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"} | {
            name: f"{self.issuer}/{path}" for name, path in names.items()
        }

    def keys(self) -> dict[str, Any]:
        """The public key."""
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.published.public_key(), as_dict=True)
        return {"keys": [key | {"kid": "1", "alg": "RS256"}]}

    def log_in(self, query: dict[str, str]) -> str:
        """The address to go back to, with a code that can be used once."""
        code = secrets.token_hex(8)
        self._asked[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, sent: dict[str, str]) -> dict[str, Any] | None:
        """The token for a code; None for a code, secret or verifier that is wrong."""
        asked = self._asked.pop(sent.get("code", ""), None)
        if asked is None or (sent["client_id"], sent["client_secret"]) != (CLIENT, SECRET):
            return None
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
            return None
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": self.person["sub"], "nonce": asked["nonce"]}
        claims = claims | {"exp": int(time.time()) + 60} | self.claims
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "anything", "id_token": signed, "token_type": "Bearer"}


@contextmanager
def institution() -> Iterator[Institution]:
    """One that answers at an address of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/log-in":
                self.send_response(302)
                query = {name: values[0] for name, values in parse_qs(address.query).items()}
                self.send_header("Location", there.log_in(query))
                self.end_headers()
                return
            pages = {"/.well-known/openid-configuration": there.description, "/keys": there.keys}
            self.answer(pages[address.path]() if address.path in pages else there.person)

        def do_POST(self) -> None:
            sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(there.token({name: values[0] for name, values in sent.items()}))

        def answer(self, body) -> None:
            content = b"<html>away</html>" if there.is_broken else json.dumps(body).encode()
            self.send_response(400 if body is None else 200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    there = Institution(server.server_port)
    Thread(target=server.serve_forever, daemon=True).start()
    yield there
    server.shutdown()
    server.server_close()
