"""The order in which Go's ``sort.Slice`` leaves what compares as equal, for sorting that shows it.

It is a quicksort that looks for patterns (Orson Peters, "Pattern-defeating Quicksort", 2021) with choices of Go's own:
which medians are asked for a pivot, what is mixed up after a bad one, what counts as nearly sorted. Each of them shows
in the order of equal elements, so each is made here as there. Where these look the same, any other sort will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_SMALL: Final = 12
_MEDIUM: Final = 50
_WORD: Final = 2**64 - 1
_MOST_SWAPS: Final = 12
_REPAIRS: Final = 5


def go_sort(items: list[T], less: Callable[[T, T], bool]) -> None:
    """Sort in place."""
    _Sort(items, less).part(0, len(items), len(items).bit_length())


class _Sort(Generic[T]):
    def __init__(self, items: list[T], less: Callable[[T, T], bool]) -> None:
        self.items = items
        self.compare = less
        self.swaps = 0

    def less(self, i: int, j: int) -> bool:
        return self.compare(self.items[i], self.items[j])

    def swap(self, i: int, j: int) -> None:
        self.items[i], self.items[j] = self.items[j], self.items[i]

    def part(self, start: int, end: int, patience: int) -> None:
        """The elements from ``start`` to before ``end``; after ``patience`` bad pivots with a heap."""
        balanced = untouched = True
        while end - start > _SMALL:
            if not patience:
                self.heap(start, end)
                return
            if not balanced:
                self.mix(start, end)
                patience -= 1
            pivot, swaps = self.pivot(start, end)
            if swaps == _MOST_SWAPS:
                self.items[start:end] = self.items[start:end][::-1]
                pivot, swaps = start + end - 1 - pivot, 0
            if balanced and untouched and not swaps and self.repaired(start, end):
                return
            if start and not self.less(start - 1, pivot):
                # Nothing here is less than the element before, so the pivot is equal to it.
                start = self.split(start, end, pivot, equal=True)[0]
                continue
            middle, untouched = self.split(start, end, pivot)
            left, right = middle - start, end - middle
            balanced = min(left, right) >= (end - start) // 8
            if left < right:
                self.part(start, middle, patience)
                start = middle + 1
            else:
                self.part(middle + 1, end, patience)
                end = middle
        self.insertion(start, end)

    def sink(self, place: int, lowest: int) -> None:
        """Exchange an element with the one before until that is not greater."""
        while place > lowest and self.less(place, place - 1):
            self.swap(place, place - 1)
            place -= 1

    def insertion(self, start: int, end: int) -> None:
        for place in range(start + 1, end):
            self.sink(place, start)

    def repaired(self, start: int, end: int) -> bool:
        """Whether it is sorted after exchanging a few neighbours; short parts are only looked at."""
        place = start + 1
        for _ in range(_REPAIRS):
            while place < end and not self.less(place, place - 1):
                place += 1
            if place == end:
                return True
            if end - start < _MEDIUM:
                return False
            self.swap(place, place - 1)
            if place - start >= 2:
                self.sink(place - 1, 0)
            if end - place >= 2:
                self.rise(place + 1, end)
        return False

    def rise(self, place: int, end: int) -> None:
        while place < end and self.less(place, place - 1):
            self.swap(place, place - 1)
            place += 1

    # --- pivots -------------------------------------------------------------------------------------------------------

    def pivot(self, start: int, end: int) -> tuple[int, int]:
        """The middle of three or of nine elements, and how many exchanges finding it took."""
        self.swaps = 0
        quarter = (end - start) // 4
        places = [start + quarter, start + 2 * quarter, start + 3 * quarter]
        if end - start >= _MEDIUM:
            places = [self.median(place - 1, place, place + 1) for place in places]
        return self.median(*places), self.swaps

    def median(self, a: int, b: int, c: int) -> int:
        a, b = self.ordered(a, b)
        b, c = self.ordered(b, c)
        return self.ordered(a, b)[1]

    def ordered(self, a: int, b: int) -> tuple[int, int]:
        if self.less(b, a):
            self.swaps += 1
            return b, a
        return a, b

    def mix(self, start: int, end: int) -> None:
        """Exchange three elements of the middle with others, by a generator that begins with the length."""
        length = number = end - start
        middle = start + length // 4 * 2
        for place in (middle - 1, middle, middle + 1):
            number ^= number << 13 & _WORD
            number ^= number >> 7
            number ^= number << 17 & _WORD
            other = number & ((1 << length.bit_length()) - 1)
            self.swap(place, start + (other - length if other >= length else other))

    def split(self, start: int, end: int, pivot: int, equal: bool = False) -> tuple[int, bool]:
        """The pivot's place between less and others, and whether all were in place; or the end of the equal ones."""
        self.swap(start, pivot)
        low, high = start + 1, end - 1
        exchanged = False
        while True:
            while low <= high and (not self.less(start, low) if equal else self.less(low, start)):
                low += 1
            while low <= high and (self.less(start, high) if equal else not self.less(high, start)):
                high -= 1
            if low > high:
                break
            self.swap(low, high)
            exchanged = True
            low, high = low + 1, high - 1
        if equal:
            return low, False
        self.swap(high, start)
        return high, not exchanged

    # --- heap ---------------------------------------------------------------------------------------------------------

    def heap(self, start: int, end: int) -> None:
        size = end - start
        for root in range((size - 1) // 2, -1, -1):
            self.settle(start, root, size)
        for last in range(size - 1, -1, -1):
            self.swap(start, start + last)
            self.settle(start, 0, last)

    def settle(self, start: int, root: int, size: int) -> None:
        """Let the root of a heap sink below greater children."""
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self.less(start + child, start + child + 1):
                child += 1
            if not self.less(start + root, start + child):
                return
            self.swap(start + root, start + child)
            root = child
