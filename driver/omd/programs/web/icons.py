"""The signs of the screens in the rail."""

from __future__ import annotations

from omd.programs.page.markup import Html, el

# What is drawn with one line in a square of 16 by 16.
_LINES = {
    "/": "M2.5 8.5H5L7 3.5L9.5 12.5L11.3 8.5H13.5",
    "/todo": "M2.5 4L3.5 5L5.2 3M2.5 8.5L3.5 9.5L5.2 7.5M2.5 13L3.5 14L5.2 12M8 4H13.5M8 8.5H13.5"
    "M8 13H13.5",
    "/work": "M2.5 3H13.5M2.5 6.5H9M5 10H13.5M7.5 13.5H11",
    "/grid": "M2.5 2.5H6.5V6.5H2.5ZM9.5 2.5H13.5V6.5H9.5Z"
    "M2.5 9.5H6.5V13.5H2.5ZM9.5 9.5H13.5V13.5H9.5Z",
    "/graph": "M2.5 6H5.5V10H2.5ZM10.5 2.5H13.5V6H10.5ZM10.5 10H13.5V13.5H10.5Z"
    "M5.5 8H8M10.5 4.2H8V11.8H10.5",
    "/queue": "M2.5 5.5V10.5M5.5 5.5V10.5M8.5 5.5V10.5M11 8H14M12.3 6.2L14 8L12.3 9.8",
    "/deliveries": "M2.5 5L8 2.5L13.5 5V11L8 13.5L2.5 11ZM2.5 5L8 7.5L13.5 5M8 7.5V13.5",
    "/lake": "M2 5C4 3.5 6 3.5 8 5S12 6.5 14 5M2 8.5C4 7 6 7 8 8.5S12 10 14 8.5"
    "M2 12C4 10.5 6 10.5 8 12S12 13.5 14 12",
    "/log": "M3.5 2.5H10L12.5 5V13.5H3.5ZM5.5 7H10.5M5.5 9H10.5M5.5 11H8.5",
}


def icon(path: str) -> Html:
    """Return the sign of a screen; its word stands beside it."""
    drawn = el("path", d=_LINES.get(path, ""))
    return el("svg", drawn, cls="icon", viewBox="0 0 16 16", width=16, height=16,
              aria_hidden="true")  # fmt: skip
