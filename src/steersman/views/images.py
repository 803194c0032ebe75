"""Pictures that a person sends along: read, recognised by their first bytes, kept small."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from steersman.records.dialogue import Image
from steersman.records.errors import UsageProblem
from steersman.records.plain_files import read_plain

LARGEST = 5_000_000
MOST = 10
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def images_from(paths: Sequence[str]) -> tuple[Image, ...]:
    """The pictures at some paths, or what is wrong with one of them."""
    if len(paths) > MOST:
        raise UsageProblem(f"At most {MOST} images can be sent with a message.")
    return tuple(_image(Path(path).expanduser()) for path in paths)


def _image(path: Path) -> Image:
    try:
        data = read_plain(path, LARGEST + 1)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageProblem(f"The image {path} cannot be read.", why) from error
    if len(data) > LARGEST:
        raise UsageProblem(
            f"The image {path} is larger than {LARGEST // 1_000_000} MB.",
            try_this="Make it smaller.",
        )
    media = next((kind for start, kind in _BEGINNINGS.items() if data.startswith(start)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        media = "image/webp"
    if not media:
        raise UsageProblem(
            f"{path} is not an image that models take.", "They take PNG, JPEG, GIF and WebP."
        )
    return Image(media, b64encode(data).decode())
