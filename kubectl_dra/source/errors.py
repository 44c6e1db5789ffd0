"""What can go wrong between us and the bytes: one line what, one line what to do.

SourceError
├── FileError          a file can't be read, is too big, or is not what it says
│   └── ManifestError  its content is no manifest: names document and line
├── ClusterError       no connection, no credentials, or an answer that is none
│   └── ForbiddenError the server refused a read that the command can't do without
└── InvalidNameError   no object can have the name that was asked for
"""

from __future__ import annotations

from kubectl_dra.source.secrets import hidden


class SourceError(Exception):
    """Base of all source errors; ``what`` and ``hint`` are unescaped text in one line each."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class FileError(SourceError):
    """Raised when a file can't be read, is too big, or is not the format that it seems to be."""


class ManifestError(FileError):
    """Raised when a document is no manifest; ``what`` starts with ``FILE, document N, line N``.

    ``problem`` is what is wrong, without the place; ``line`` is 0 where it is not known. ``foreign``: the document is
    well-formed, and nothing in it says that it is meant for Kubernetes. ``as_meant``: it was read as it is meant.
    """

    as_meant = False

    def __init__(
        self, what: str, hint: str = "", *, file: str = "", line: int = 0, problem: str = "", foreign: bool = False
    ) -> None:
        super().__init__(what, hint)
        self.file = file
        self.line = line
        self.problem = problem or what
        self.foreign = foreign


class ClusterError(SourceError):
    """Raised when a cluster can't be reached, refuses the credentials, or does not answer as an API server.

    Its words may be those of libraries, credential plugins and servers: what must stay secret is hidden in them.
    """

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(hidden(what), hidden(hint))


class ForbiddenError(ClusterError):
    """Raised when a read that the command can't do without is forbidden."""


class InvalidNameError(SourceError):
    """Raised for a name that the API can't hold, before anything is asked for by it."""
