"""Files that differ from one another in eight bytes and stay valid."""
import struct
import zlib


def variant(content, extension, number):
    """The file with eight different digits, at a position that its format allows."""
    return _WRITERS[extension](content, b"%08d" % number)


def _replaced(content, place, mark):
    return content[:place] + mark + content[place + len(mark):]


def _jpg(content, mark):
    place = 4 + struct.unpack(">H", content[4:6])[0]  # behind the first segment
    return content[:place] + b"\xff\xfe\0\x0a" + mark + content[place:]


def _webp(content, mark):
    grown = content[8:] + b"note" + struct.pack("<I", len(mark)) + mark
    return b"RIFF" + struct.pack("<I", len(grown)) + grown


def _png(content, mark):
    chunk = b"tEXt" + b"number\0" + mark
    return content[:-12] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + content[-12:]


def _gif(content, mark):
    return content[:-1] + b"\x21\xfe\x08" + mark + b"\0" + content[-1:]


def _last_samples(content, mark):
    return _replaced(content, len(content) - len(mark), mark)


def _media_data(content, mark):
    return _replaced(content, content.index(b"mdat") + 4 + 64, mark)


def _unused(content, mark):
    return _replaced(content, content.index(b"JUNK") + 8 + 16, mark)


def _last_pack(content, mark):
    return _replaced(content, len(content) - 1024, mark)


_WRITERS = {"jpg": _jpg, "webp": _webp, "png": _png, "gif": _gif, "mp3": _last_samples, "m4a": _media_data, "wav": _last_samples, "aiff": _last_samples,
            "mp4": _media_data, "mpg": _last_pack, "avi": _unused}
