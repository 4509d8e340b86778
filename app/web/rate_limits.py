"""How often a person may do something: the limits that stand on the views.

What strangers may do is counted in app.accounts.account_limits, and how many of one person's
requests run at a time in app.accounts.concurrency_limit.
"""

from __future__ import annotations

from typing import Any

from flask import request
from flask_limiter import RouteLimit
from flask_login import current_user

from app.extensions import client_address, limiter


def person_asking() -> str:
    """Whom to count requests against: the person; for whoever is not signed in, the address."""
    user_id = getattr(current_user, "user_id", None)
    return str(user_id) if user_id else client_address()


def limit_person(rule: str, budget: str, **options: Any) -> RouteLimit:
    """A decorator of views that lets each person do something so often, wherever they do it.

    All views with the same `rule`, like "60 per minute", and `budget` count together.
    `options` are those of Flask-Limiter's `shared_limit`.
    """
    return limiter.shared_limit(rule, scope=budget, key_func=person_asking, **options)


# Whatever asks the assistant for an answer.
limit_messages = limit_person("60 per minute", "messages")
# The buttons of proposals, and the one that stops an answer.
limit_decisions = limit_person("120 per minute", "decisions")
# Whatever looks for words, but for conversations, which count for themselves: a list that follows
# what is typed asks a few times for each word.
limit_searches = limit_person(
    "120 per minute", "searches", exempt_when=lambda: not request.args.get("q")
)
# What changes a conversation as a whole: its name, whether it is there, the branch that is shown.
limit_chat_changes = limit_person("120 per minute", "chat changes")
# What is posted to the pages on which a restaurant is set up: much of it keeps a whole version.
MOST_BUILT = "120 per minute; 5000 per day"
limit_building = limit_person(MOST_BUILT, "building")
# What only draws how something would look that is being set up.
limit_previews = limit_person("120 per minute", "previews")
