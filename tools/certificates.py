"""Keys and certificates for a test or a measurement, made by the ``openssl`` command.

    authority = Authority(folder)
    server = authority.issue("server")          # a file with a key and its certificate
    ...                                         # clients trust authority.certificate

They are valid for a month and protect nothing: the keys lie around unencrypted.
"""

import shutil
import subprocess
from pathlib import Path

_DAYS = "30"
# Generated in no time. RSA is what most companies have, and what a handshake costs most with.
EC = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
RSA = ("rsa:2048",)
_LOCAL = ("DNS:localhost", "IP:127.0.0.1")


class Authority:
    """An issuer of certificates that nobody trusts unless told to."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = folder / f"{name}.key"
        self.certificate = folder / f"{name}.pem"
        _openssl(
            *("req", "-x509", "-days", _DAYS, "-subj", f"/CN={name}", "-noenc", "-newkey", *EC),
            *("-keyout", str(self._key), "-out", str(self.certificate)),
        )

    def issue(
        self,
        name: str,
        *,
        subject: str | None = None,
        names: tuple[str, ...] = _LOCAL,
        key: tuple[str, ...] = EC,
        password: str = "",
    ) -> Path:
        """A PEM file with a new private key (PKCS#8) and its certificate for TLS.

        ``subject`` is in openssl's notation, ``/CN=x``; ``names`` are those a client may know the
        owner by. With a ``password`` the key is encrypted.
        """
        path = self._folder / f"{name}.pem"
        secret, shown = self._folder / f"{name}.key", self._folder / f"{name}.crt"
        encryption = ["-passout", f"pass:{password}"] if password else ["-noenc"]
        _openssl(
            *("req", "-x509", "-days", _DAYS, "-subj", subject or f"/CN={name}", *encryption),
            *("-CA", str(self.certificate), "-CAkey", str(self._key)),
            *("-addext", f"subjectAltName={','.join(names)}"),
            *("-addext", "basicConstraints=critical,CA:FALSE"),
            *("-newkey", *key, "-keyout", str(secret), "-out", str(shown)),
        )
        path.touch(0o600)
        path.write_text(secret.read_text() + shown.read_text())
        return path


def _openssl(*arguments: str) -> None:
    """RuntimeError with openssl's words if it fails, or where to get it."""
    if shutil.which("openssl") is None:
        raise RuntimeError("there is no openssl command: run `make openssl`")
    result = subprocess.run(
        ["openssl", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if result.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {result.stderr.decode()[-1000:]}")
