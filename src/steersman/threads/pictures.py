"""The images of a thread: kept once in the store, by their digest; models get them whole."""

from base64 import b64decode, b64encode

from steersman.records.dialogue import Image
from steersman.store.contract import Store


class Pictures:
    """Puts images into the store and gets them out again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sent: dict[str, str] = {}  # those of this session are not read again

    def keep(self, images: tuple[Image, ...]) -> tuple[Image, ...]:
        """The images as the log has them: by their digests, with the bytes in the store."""
        kept = []
        for image in images:
            try:
                data = b64decode(image.data)
            except ValueError:  # whatever a program sent instead: what it is, the model says
                kept.append(Image(image.media, image.data))  # a digest would be anyone's
                continue
            digest = self._store.put_blob(data)
            self._sent[digest] = image.data
            kept.append(Image(image.media, digest=digest))
        return tuple(kept)

    def whole(self, image: Image) -> Image | None:
        """An image as a model gets it; None if it is kept no longer."""
        if not image.digest:
            return image  # of an older version, whose log has the bytes themselves
        data = self._sent.get(image.digest)
        if data is None:
            found = self._store.blob(image.digest)
            if found is None:
                return None
            data = b64encode(found).decode()
        return Image(image.media, data)
