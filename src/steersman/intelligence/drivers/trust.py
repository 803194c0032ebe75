"""Whose certificates are trusted: those of the system, or of SSL_CERT_FILE and SSL_CERT_DIR."""

import os
import ssl
import sys

# Where systems keep them, for builds of Python that look where there are none.
_BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)


def context() -> ssl.SSLContext:
    """What a connection is made with."""
    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    if sys.platform != "linux" and not named:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made = ssl.create_default_context()
    usual = ssl.get_default_verify_paths()
    if not named and usual.cafile is None and usual.capath is None:
        bundle = next(filter(os.path.isfile, _BUNDLES), None)
        if bundle:
            made.load_verify_locations(bundle)
    return made
