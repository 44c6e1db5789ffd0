"""The colours: a calm dark and a light theme. Every colour repeats something that is also said in words or shapes."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="dra-dark",
    dark=True,
    primary="#7fa7d1",
    secondary="#a394c7",
    accent="#7fc1b4",
    success="#93b980",
    warning="#dcae62",
    error="#e88f87",
    foreground="#ced6e0",
    background="#11151b",
    surface="#171c24",
    panel="#1f2630",
    variables={
        "dim": "#99a4b3",
        # Textual's own parts: what an empty line asks for, how a word may go on, what can't be chosen.
        "text-disabled": "#99a4b3",
        "cursor": "#26364a",
        "cursor-blurred": "#212b38",
        "changed": "#3a3420",
        "border": "#2b3441",
        "input-selection-background": "#33506f",
        "scrollbar": "#2b3441",
        "scrollbar-hover": "#3a4656",
        "scrollbar-active": "#4a5870",
        "scrollbar-background": "#11151b",
        "scrollbar-background-hover": "#11151b",
        "scrollbar-background-active": "#11151b",
        "scrollbar-corner-color": "#11151b",
    },
)
LIGHT: Final = Theme(
    name="dra-light",
    dark=False,
    primary="#28619b",
    secondary="#6b539e",
    accent="#17766b",
    success="#2c6427",
    warning="#7a4f06",
    error="#b3302a",
    foreground="#262c36",
    background="#fbfbf8",
    surface="#f2f2ee",
    panel="#e7e8e3",
    variables={
        "dim": "#565e6a",
        "text-disabled": "#565e6a",
        "cursor": "#cfdff0",
        "cursor-blurred": "#e3e9ef",
        "changed": "#f3e8c4",
        "border": "#d3d6d2",
        "input-selection-background": "#b8d2ee",
        "scrollbar": "#d3d6d2",
        "scrollbar-hover": "#bfc4c3",
        "scrollbar-active": "#a9b0b4",
        "scrollbar-background": "#fbfbf8",
        "scrollbar-background-hover": "#fbfbf8",
        "scrollbar-background-active": "#fbfbf8",
        "scrollbar-corner-color": "#fbfbf8",
    },
)
THEMES: Final = (DARK, LIGHT)
