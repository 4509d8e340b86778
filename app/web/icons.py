"""The icons: drawn once per page as paths on a 24 by 24 grid, and used by name.

An icon never speaks for itself: it stands beside a word, or its button carries an aria-label.
"""

from __future__ import annotations

from functools import cache

from markupsafe import Markup

# Icons that the form builder alone shows: the first page stays light without them.
OF_FIELDS = "field-"
# A path of each, as SVG writes it.
SHAPES = {
    "menu": "M4 7h16M4 12h16M4 17h10",
    "plus": "M12 5v14M5 12h14",
    "chat": "M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-7l-5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z",
    "book": (
        "M12 6.5C10 5 7.5 4.5 4 4.5v13c3.5 0 6 .5 8 2 2-1.5 4.5-2 8-2v-13c-3.5 0-6 .5-8 "
        "2zM12 6.5v13"
    ),
    "chart": "M4 20h16M7 20v-6M12 20V5.5M17 20v-9.5",
    "people": (
        "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 "
        "6M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5c2.2.8 3.5 2.8 3.5 5.5"
    ),
    "person": "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c0-4 3.4-6.5 7.5-6.5s7.5 2.5 7.5 6.5",
    "leave": "M10 4.5H5.5v15H10M14.5 8l4 4-4 4M18 12H9.5",
    "globe": (
        "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM3.5 12h17M12 3.5c5 5 5 12 0 "
        "17-5-5-5-12 0-17z"
    ),
    "send": "M12 19.5V5M5.5 11 12 4.5l6.5 6.5",
    "stop": "M7 7h10v10H7z",
    "copy": "M9 9h10.5v10.5H9zM5.5 15H4.5V4.5H15v1",
    "pencil": "M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5zM13.5 7l3.5 3.5",
    "again": "M19.5 12a7.5 7.5 0 1 1-2.4-5.5M19.5 3.5V8H15",
    "undo": "M8.5 5 4.5 9l4 4M4.5 9h9a5.5 5.5 0 0 1 0 11H9",
    "ticket": "M5.5 3.5h13v17l-2.2-1.5-2.1 1.5-2.2-1.5-2.2 1.5-2.1-1.5-2.2 1.5zM9 8.5h6M9 12.5h6",
    "thumb-up": (
        "M7 10.5v9M3.5 10.5H7l4-7c1.5 0 2.5 1 2.5 2.6V9h5.2a1.8 1.8 0 0 1 1.8 2.1l-1.2 "
        "6.9a1.8 1.8 0 0 1-1.8 1.5H3.5z"
    ),
    "thumb-down": (
        "M7 13.5v-9M3.5 13.5H7l4 7c1.5 0 2.5-1 2.5-2.6V15h5.2a1.8 1.8 0 0 0 "
        "1.8-2.1l-1.2-6.9a1.8 1.8 0 0 0-1.8-1.5H3.5z"
    ),
    "check": "M4.5 12.5 10 18 19.5 7",
    "close": "M6 6l12 12M18 6 6 18",
    "down": "M12 4.5V19M5.5 13l6.5 6.5 6.5-6.5",
    "back": "M19.5 12H5M11 5.5 4.5 12l6.5 6.5",
    "next": "M9 5.5 15.5 12 9 18.5",
    "search": "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5l5 5",
    "alert": "M12 4 2.8 19.5h18.4zM12 10v4.5M12 17v.5",
    "info": "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5.5M12 7.5V8",
    "bell": (
        "M12 4a5.5 5.5 0 0 1 5.5 5.5c0 4.5 2 5.5 2 7h-15c0-1.5 2-2.5 2-7A5.5 5.5 0 0 1 12 4z"
        "M10 19.5a2 2 0 0 0 4 0"
    ),
    "lock": "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
    "clock": "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2",
    "cloud-off": (
        "M4 4l16 16M9 7.5A6 6 0 0 1 17.5 11a4 4 0 0 1 2.3 6.8M15.5 19H7a4.5 4.5 0 0 1-.8-8.9"
    ),
    "form": "M6 3.5h8l4 4v13H6zM14 3.5v4h4M9 12h6M9 15h6M9 18h3.5",
    "clipboard": "M8.5 5H6v15.5h12V5h-2.5M9 3.5h6v3H9zM9 11h6M9 14.5h6",
    "checklist": (
        "M4.5 6.5 6 8l2.5-3M4.5 12.5 6 14l2.5-3M4.5 18.5 6 20l2.5-3M11.5 6.5h8M11.5 12.5h8"
        "M11.5 18.5h8"
    ),
    "first-aid": "M4 7.5h16v12H4zM9 7.5v-3h6v3M12 10.5v6M9 13.5h6",
    "write-up": "M6 3.5h8l4 4v13H6zM14 3.5v4h4M12 10.5v4.5M12 17.5v.5",
    "thermometer": "M12 3.5a2 2 0 0 0-2 2v8.2a4 4 0 1 0 4 0V5.5a2 2 0 0 0-2-2zM12 9v8",
    "wrench": (
        "M20 6.5a4.5 4.5 0 0 1-6.2 5.3L7 18.6a1.9 1.9 0 0 1-2.7-2.7l6.9-6.8"
        "A4.5 4.5 0 0 1 16.5 3L14 5.5l.5 3 3 .5z"
    ),
    "complaint": (
        "M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-7l-5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z"
        "M12 7.5v3.5M12 13v.5"
    ),
    "calendar": "M4.5 6h15v14h-15zM4.5 10.5h15M8.5 3.5V8M15.5 3.5V8M8 14h3M8 17h6",
    "swap": "M4 8.5h15M15 4.5l4 4-4 4M20 15.5H5M9 11.5l-4 4 4 4",
    "shirt": "M8.5 4 4 6.5l1.5 4.5 2-.5v9.5h9V10.5l2 .5L20 6.5 15.5 4a3.5 3.5 0 0 1-7 0z",
    "trash": "M5 7h14M9.5 7V4.5h5V7M7 7l1 13h8l1-13M10.5 10.5v6M13.5 10.5v6",
    "coins": (
        "M9 11c3 0 5-1.2 5-3s-2-3-5-3-5 1.2-5 3 2 3 5 3zM4 8v4c0 1.8 2 3 5 3M14 8v3M15 18.5"
        "c3 0 5-1.2 5-3s-2-3-5-3-5 1.2-5 3 2 3 5 3zM10 15.5v2c0 1.8 2 3 5 3s5-1.2 5-3v-2"
    ),
    "receipt": (
        "M5.5 3.5h13v17l-2.2-1.6-2.1 1.6-2.2-1.6-2.2 1.6-2.1-1.6-2.2 1.6zM14.6 8.6c-.5-.8-1.4-1.2"
        "-2.6-1.2-1.6 0-2.6.7-2.6 1.9 0 2.6 5.3 1.2 5.3 3.9 0 1.2-1.1 2-2.7 2-1.3 0-2.3-.4-2.8-1.3"
        "M12 6.2v1.2M12 15.2v1.2"
    ),
    "truck": (
        "M3 6.5h11v10H3zM14 10h4l3 3.5v3h-7M7 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM17 19"
        "a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"
    ),
    "camera": "M4 8h4l1.5-2.5h5L16 8h4v11H4zM12 16.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
    "up": "M12 19.5V5M5.5 11 12 4.5l6.5 6.5",
    "phone": (
        "M7 3.5h3l1.5 4.5-2.2 1.7a11 11 0 0 0 5 5l1.7-2.2 4.5 1.5v3a2.5 2.5 0 0 1-2.7 2.5"
        "A15.5 15.5 0 0 1 4.5 6.2 2.5 2.5 0 0 1 7 3.5z"
    ),
    "contacts": (
        "M5 3.5h14v17H5zM3 8h3M3 12h3M3 16h3M12.5 11.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM9 16.5"
        "c0-2 1.6-3 3.5-3s3.5 1 3.5 3"
    ),
    "builder": "M4 4.5h16v5H4zM4 14.5h9v5H4zM18.5 13v7M15 16.5h7",
    "field-text": "M4 8.5h16v7H4zM7.5 10.5v3",
    "field-lines": "M4 5.5h16v13H4zM7.5 9.5h9M7.5 12.5h9M7.5 15.5h5",
    "field-number": "M9.5 4 7.5 20M16.5 4l-2 16M4.5 9h16M3.5 15h16",
    "field-radio": "M7 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM7 12.5v-.8M14 12h7",
    "dishes": "M3 17.5h18M5 17.5a7 7 0 0 1 14 0M12 10.5V8M10.5 8h3",
    "wines": "M8 3.5h8l.5 5a4.5 4.5 0 0 1-9 0zM12 13v7.5M8.5 20.5h7M7.8 8h8.5",
    "cocktails": "M4 5h16l-8 8.5zM12 13.5v7M8.5 20.5h7M8 9h8M15.5 5l2.5-2.5",
    "recipes": "M6 3.5h12v17l-2-1.5-2 1.5-2-1.5-2 1.5-2-1.5-2 1.5zM9 8h6M9 11.5h6M9 15h3.5",
    "beer_liquor": (
        "M6 8h9v12.5H6zM15 10.5h2.5a1.5 1.5 0 0 1 1.5 1.5v4a1.5 1.5 0 0 1-1.5 1.5H15M6 "
        "8a2.5 2.5 0 0 1 1.5-4.5 3.5 3.5 0 0 1 6 0A2.5 2.5 0 0 1 15 8M9 11.5v5.5M12 "
        "11.5v5.5"
    ),
}


@cache
def icon(name: str, class_: str = "") -> Markup:
    """The icon of that name, with a further class."""
    drawing = Markup(
        '<svg class="{}" viewBox="0 0 24 24" aria-hidden="true"><use href="#i-{}"/></svg>'
    )
    return drawing.format(f"icon {class_}".rstrip(), name)


@cache
def icon_sprite(*, of_fields: bool = False) -> Markup:
    """All icons as paths, for the page that uses them; those of fields for the form builder."""
    path = Markup('<path id="i-{}" d="{}"/>')
    return Markup("<svg hidden>{}</svg>").format(
        Markup("").join(
            path.format(name, shape)
            for name, shape in SHAPES.items()
            if name.startswith(OF_FIELDS) == of_fields
        )
    )
