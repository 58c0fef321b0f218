"""Media of the ten containers that all peers know, made by ffmpeg from seeded noise: the same ffmpeg gives the same bytes."""
import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from . import children

#: The media type and Apple's uniform type identifier of each extension.
TYPES = {"jpg": ("image/jpeg", "public.jpeg"), "png": ("image/png", "public.png"), "gif": ("image/gif", "com.compuserve.gif"),
         "mp3": ("audio/mpeg", "public.mp3"), "m4a": ("audio/mp4", "public.mpeg-4-audio"), "wav": ("audio/wav", "com.microsoft.waveform-audio"),
         "aiff": ("audio/aiff", "public.aiff-audio"), "mp4": ("video/mp4", "public.mpeg-4"), "mpg": ("video/mpeg", "public.mpeg"),
         "avi": ("video/x-msvideo", "public.avi")}
#: The names of libmagic that differ from those of IANA or of servers.
OTHER_NAMES = {"audio/x-m4a": "audio/mp4", "audio/x-wav": "audio/wav", "audio/x-aiff": "audio/aiff"}
VIDEOS = ["mp4", "mpg", "avi"]
SIZES = {"tiny": 5_000, "typical": 100_000, "large": 3_000_000}
#: A quick run makes no files; it uses the fixtures, regardless of their size.
FIXTURES = {"jpg": "photo.jpg", "png": "picture.png", "gif": "animation.gif", "mp3": "song.mp3", "m4a": "voice.m4a", "wav": "sound.wav",
            "aiff": "sound.aiff", "mp4": "clip.mp4", "mpg": "film.mpg", "avi": "movie.avi"}


@dataclass(frozen=True)
class Medium:
    """One file of the origin."""
    path: Path

    @property
    def name(self):
        return self.path.name

    @property
    def types(self):
        return TYPES[self.path.suffix[1:]]

    @cached_property
    def size(self):
        return self.path.stat().st_size

    @property
    def content(self):
        return self.path.read_bytes()

    @cached_property
    def sha256(self):
        return hashlib.sha256(self.content).hexdigest()


def fixtures(folder, fixtures_folder):
    """Copies of the fixtures under the names of all sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        for extension, name in FIXTURES.items():
            (folder / f"{size}.{extension}").write_bytes((fixtures_folder / name).read_bytes())
    return _with_huge(folder)


def _with_huge(folder):
    """A picture that is too large for a limit of 50 KB."""
    (folder / "huge.jpg").write_bytes((folder / "tiny.jpg").read_bytes() + bytes(100_000))
    return folder


def made(folder):
    """Makes the missing files of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for size, wanted in SIZES.items():
        for extension in VIDEOS if size == "large" else TYPES:
            path = folder / f"{size}.{extension}"
            if not path.exists():
                _make(path, size, wanted)
    return _with_huge(folder)


def _make(path, size, wanted):
    """Scales the picture's edge, or the seconds of a sound or a film, until the file has about the requested size."""
    make, power = _MAKERS[path.suffix[1:]]
    measure, draft = {"tiny": 0.3, "typical": 3, "large": 20}[size] if power == 1 else math.sqrt(wanted) / 2, path.with_name("draft" + path.suffix)
    for _ in range(12):
        make(draft, measure, size)
        found = draft.stat().st_size
        if 0.8 <= found / wanted <= 1.25:
            draft.rename(path)
            return
        measure *= min(8, max(0.125, (wanted / found) ** (1 / power)))
    raise RuntimeError(f"{path.name} stays at {found} bytes")


def _ffmpeg(*arguments):
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", "-threads", "1", *map(str, arguments)]
    said, status = children.run(command)
    if status:
        raise RuntimeError(f"ffmpeg: {said[-500:]}")


def _picture(*codec):
    def make(path, edge, _):
        edge = max(8, round(edge / 2) * 2)
        _ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={edge}x{edge},noise=alls=60:all_seed=7", "-frames:v", 1, "-bitexact", *codec, path)
    return make, 2


def _sound(rate, *codec):
    def make(path, seconds, _):
        _ffmpeg("-f", "lavfi", "-i", f"anoisesrc=d={seconds:.4f}:c=pink:r={rate}:a=0.4:s=7", "-bitexact", *codec, path)
    return make, 1


def _film(*codec):
    def make(path, seconds, size):
        edges = {"tiny": "64x48", "typical": "160x120", "large": "320x240"}[size]
        _ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={edges}:r=25:d={seconds:.4f},noise=alls=20:all_seed=7",
                "-f", "lavfi", "-i", f"anoisesrc=d={seconds:.4f}:c=pink:r=44100:a=0.4:s=7", "-shortest", "-bitexact", *codec, path)
    return make, 1


def picture(path, width, height, *codec):
    """Makes a picture of a size if the file is missing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={width}x{height},noise=alls=20:all_seed=7", "-frames:v", 1, "-bitexact", *codec, path)
    return path.read_bytes()


_MAKERS = {
    "jpg": _picture("-q:v", 5, "-update", 1), "png": _picture("-pix_fmt", "rgb24", "-update", 1), "gif": _picture("-f", "gif"),
    "mp3": _sound(44100, "-c:a", "libmp3lame", "-b:a", "64k"), "m4a": _sound(44100, "-c:a", "aac", "-b:a", "64k"),
    "wav": _sound(22050, "-c:a", "pcm_s16le"), "aiff": _sound(22050, "-c:a", "pcm_s16be"),
    "mp4": _film("-c:v", "libx264", "-preset", "veryfast", "-crf", 30, "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "48k", "-movflags", "+faststart"),
    "mpg": _film("-c:v", "mpeg1video", "-q:v", 20, "-c:a", "mp2", "-b:a", "64k", "-f", "mpeg"),
    "avi": _film("-c:v", "mpeg4", "-q:v", 20, "-c:a", "libmp3lame", "-b:a", "64k", "-reserve_index_space", 512),
}
