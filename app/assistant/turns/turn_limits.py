"""How much one turn may take: tries, calls of the model, rounds of search, letters of its reply."""

from __future__ import annotations

# So many runners may begin a turn, of which each but the last died.
MAX_ATTEMPTS = 3
MAX_MODEL_CALLS = 5
MAX_SEARCH_ROUNDS = 3
# What one answer of a model may ask for; whoever asks for more gets the rest refused.
MAX_CALLS_AT_ONCE = 8
# A model says at most so many characters in a turn (some eight pages); then it is closed, and
# what it has said stands.
LONGEST_REPLY = 20_000
# What it says before a question: a sentence or two.
LONGEST_REMARK = 1_000
