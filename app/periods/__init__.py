"""Periods that people name: "last week", "desde el 1 de junio", "in March", "últimos 7 días".

Pure: a text, its language and today's date in, half-open days out; and back into words.
"""

from __future__ import annotations

from app.periods.descriptions import period_words
from app.periods.parser import Found, find_period, parse_period
from app.periods.period import Period

__all__ = ["Found", "Period", "find_period", "parse_period", "period_words"]
