"""Names that are taken, and the next free one of a kind."""

from __future__ import annotations

from collections.abc import Iterable


class UsedSlugs(set[str]):
    """Slugs that are taken, and the free one for a name; thousands of one name cost no more."""

    def __init__(self, slugs: Iterable[str] = ()) -> None:
        super().__init__(slugs)
        # By name, the number to look at next: those before it were taken, and stay taken.
        self._next: dict[str, int] = {}

    def free(self, slug: str) -> str:
        """The slug, or the first of `slug-2`, `slug-3` … that is not taken."""
        if slug not in self:
            return slug
        number = self._next.get(slug, 2)
        while (candidate := f"{slug}-{number}") in self:
            number += 1
        self._next[slug] = number
        return candidate

    def give_back(self, slugs: Iterable[str]) -> None:
        """These are free again."""
        self.difference_update(slugs)
        self._next.clear()
