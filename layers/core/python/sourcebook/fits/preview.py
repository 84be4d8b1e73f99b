"""A picture of a spectrum, small and plain: for whoever decides whether it is one."""

from __future__ import annotations

import io
import math
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from sourcebook.fits.fitsfile import Floats
from sourcebook.fits.reading import Checked, Order

WIDTH, HEIGHT = 960, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 20, 40, 56
_INK: Final = (32, 32, 32)
_GRID: Final = (224, 224, 224)
_COLOURS: Final = ((31, 90, 160), (176, 72, 24))
"""Neighbouring orders alternate, so that their overlap shows."""
_TITLE_LIMIT: Final = 70


def preview_png(checked: Checked) -> bytes:
    """Return a PNG of flux over wavelength in nm, with axes, units and the object's name.

    The height shows the middle 99 % of the fluxes with room to spare, so that one cosmic ray does not
    flatten the rest; what lies beyond is cut at the frame.
    """
    orders = checked.orders
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    low, high = _wavelength_limits(orders)
    bottom, top = _flux_limits(orders)
    scale = _Scale(low * 1e9, high * 1e9, bottom, top)
    _axes(draw, scale)
    for index, order in enumerate(orders):
        _curve(draw, scale, order, _COLOURS[index % len(_COLOURS)])
    draw.rectangle((_LEFT, _TOP, WIDTH - _RIGHT, HEIGHT - _BOTTOM), outline=_INK)
    _words(draw, checked)
    stream = io.BytesIO()
    image.quantize(colors=32).save(stream, format="PNG", optimize=True)
    return stream.getvalue()


class _Scale:
    """From nm and flux to pixels."""

    def __init__(self, left: float, right: float, bottom: float, top: float) -> None:
        self.left, self.right, self.bottom, self.top = left, right, bottom, top

    def x(self, nanometres: float) -> float:
        share = (nanometres - self.left) / (self.right - self.left)
        return _LEFT + share * (WIDTH - _RIGHT - _LEFT)

    def y(self, flux: float) -> float:
        share = (flux - self.bottom) / (self.top - self.bottom)
        return HEIGHT - _BOTTOM - min(max(share, 0.0), 1.0) * (HEIGHT - _BOTTOM - _TOP)


def _wavelength_limits(orders: tuple[Order, ...]) -> tuple[float, float]:
    low = min(float(order.wavelength[0]) for order in orders)
    high = max(float(order.wavelength[-1]) for order in orders)
    return (low, high) if high > low else (low * 0.999, low * 1.001)


def _flux_limits(orders: tuple[Order, ...]) -> tuple[float, float]:
    fluxes = np.concatenate([order.flux for order in orders])
    fluxes = fluxes[np.isfinite(fluxes)]
    low, high = (float(value) for value in np.percentile(fluxes, (0.5, 99.5)))
    room = (high - low) * 0.15 or abs(high) * 0.1 or 1.0
    return low - room, high + room


def _curve(draw: ImageDraw.ImageDraw, scale: _Scale, order: Order, colour: tuple[int, int, int]) -> None:
    """Draw one order: for each column of pixels the range of its fluxes, gaps where there are none."""
    columns = np.array([scale.x(value) for value in (order.wavelength * 1e9).tolist()]).astype(int)
    step = math.ceil((int(columns[-1]) - int(columns[0])) / max(len(columns) - 1, 1))
    before: tuple[int, float] | None = None
    for column, low, high, last in _ranges(columns, order.flux):
        top, bottom = scale.y(high), scale.y(low)
        draw.line((column, top, column, max(bottom, top + 1)), fill=colour)
        if before is not None and column - before[0] <= max(2, 2 * step):
            draw.line((before[0], before[1], column, (top + bottom) / 2), fill=colour)
        before = (column, scale.y(last))


def _ranges(columns: Floats, flux: Floats) -> list[tuple[int, float, float, float]]:
    """Return column, lowest, highest and last flux, for each column of pixels that has one."""
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    ranges = []
    for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        values = flux[start:end]
        values = values[np.isfinite(values)]
        if values.size:
            ranges.append((int(columns[start]), float(values.min()), float(values.max()), float(values[-1])))
    return ranges


def _axes(draw: ImageDraw.ImageDraw, scale: _Scale) -> None:
    font = ImageFont.load_default(13)
    for value in _ticks(scale.left, scale.right, 8):
        x = scale.x(value)
        draw.line((x, _TOP, x, HEIGHT - _BOTTOM), fill=_GRID)
        draw.text((x, HEIGHT - _BOTTOM + 6), f"{value:.10g}", fill=_INK, font=font, anchor="mt")
    for value in _ticks(scale.bottom, scale.top, 6):
        y = scale.y(value)
        draw.line((_LEFT, y, WIDTH - _RIGHT, y), fill=_GRID)
        draw.text((_LEFT - 6, y), f"{value:.4g}", fill=_INK, font=font, anchor="rm")


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Return some `about` round numbers between two others: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def _words(draw: ImageDraw.ImageDraw, checked: Checked) -> None:
    verdict = checked.verdict
    title, font = ImageFont.load_default(16), ImageFont.load_default(13)
    medium = f" in {verdict.medium}" if verdict.medium else ""
    parts = (verdict.object_name, verdict.observed_at_iso, verdict.instrument)
    draw.text((_LEFT, 12), _printable("  ·  ".join(part for part in parts if part)), fill=_INK, font=title)
    centre = (_LEFT + WIDTH - _RIGHT) / 2
    draw.text((centre, HEIGHT - 14), f"wavelength{medium} (nm)", fill=_INK, font=font, anchor="mb")
    label = _printable(f"flux ({verdict.flux_unit or 'relative'})")
    upright = Image.new("L", (HEIGHT, 18), 0)
    ImageDraw.Draw(upright).text((HEIGHT / 2, 9), label, fill=255, font=font, anchor="mm")
    draw.bitmap((4, 0), upright.rotate(90, expand=True), fill=_INK)


def _printable(text: str) -> str:
    """Keep what the font has; a header can hold anything."""
    cut = text if len(text) <= _TITLE_LIMIT else f"{text[: _TITLE_LIMIT - 1]}…"
    return "".join(character if character.isprintable() else "?" for character in cut)
