"""Sentences that several captions repeat, such as the recipe: a page has them once, and captions name their letter."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from bench.render.sentences import sentences
from bench.render.table import Table

FEWEST_CHARACTERS = 20
"""Shorter sentences stay where they are."""


@dataclass(frozen=True)
class Caption:
    """What a caption keeps, and the letters of what it shares with others."""

    text: str
    letters: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """A footnote of a table as the page shows it: with a number, with the letter of a shared note, or with neither.

    What no cell names has an empty mark.
    """

    text: str
    mark: str
    anchor: str
    is_shared: bool


@dataclass(frozen=True)
class SharedNotes:
    """The shared sentences by letter, in the order in which a reader meets them."""

    texts: Mapping[str, str]

    @classmethod
    def of(cls, captions: Iterable[tuple[str, str, Sequence[str]]]) -> "SharedNotes":
        """Return what captions of different kinds share: what one kind says on every dataset explains that kind.

        Parameters
        ----------
        captions
            Of each table or figure of the page: its name, whose first word is its kind, its caption and its footnotes.
        """
        kinds: dict[str, set[str]] = defaultdict(set)
        for name, caption, footnotes in captions:
            for text in (*sentences(caption), *footnotes):
                kinds[text].add(name.partition("-")[0])
        shared = [text for text, found in kinds.items() if len(found) > 1 and len(text) >= FEWEST_CHARACTERS]
        return cls(dict(zip(_letters(), shared, strict=False)))

    def caption(self, text: str, footnotes: Sequence[str] = ()) -> Caption:
        """Return a caption without its shared sentences, with their letters and those of shared footnotes."""
        letter_of = self._letter_of
        parts = sentences(text)
        own = [sentence for sentence in parts if sentence not in letter_of]
        letters = {letter_of[part] for part in (*parts, *footnotes) if part in letter_of}
        return Caption(" ".join(own), tuple(letter for letter in self.texts if letter in letters))

    def footnotes(self, table: Table) -> list[Note]:
        """Return the footnotes of a table, numbered without those that are shared or that no cell names."""
        notes: list[Note] = []
        n_own = 0
        for number, text in table.notes:
            letter = self._letter_of.get(text)
            if letter is None and number is None:
                notes.append(Note(text, "", "", is_shared=False))
            elif letter is None:
                n_own += 1
                notes.append(Note(text, str(n_own), f"note-{table.name}-{n_own}", is_shared=False))
            else:
                notes.append(Note(text, letter, f"note-{letter}", is_shared=True))
        return notes

    @property
    def _letter_of(self) -> dict[str, str]:
        return {text: letter for letter, text in self.texts.items()}


def _letters() -> Iterator[str]:
    """Yield a to z, then aa, ab and so on."""
    yield from ascii_lowercase
    for first in ascii_lowercase:
        yield from (first + second for second in ascii_lowercase)
