// Labels that never lie on each other: each takes the first free place offered to it, or stays away.

class Labels {
  constructor(left, top, right, bottom) {
    Object.assign(this, { left, top, right, bottom });
    this.taken = [];
  }

  free(box) {
    const inside = box.x >= this.left && box.y >= this.top && box.x + box.w <= this.right && box.y + box.h <= this.bottom;
    return inside && !this.taken.some((other) => overlap(box, other));
  }

  /** Keep a box free; it counts for names that move only while it is shown. */
  take(box, shown = () => true) {
    const taken = { ...box, shown };
    this.taken.push(taken);
    return taken;
  }

  /** How much of a box lies on what is shown now. */
  covered(box) {
    return this.taken.reduce((sum, other) => (overlap(box, other) && other.shown() ? sum + shared(box, other) : sum), 0);
  }

  /** Give the first free of the places around a point, as {x, y, anchor, taken}; null if all are taken. */
  around(x, y, text, bold = false) {
    const gap = 9;
    const w = text.length * (bold ? 6.9 : 6.3) + 6;
    const h = 13;
    const places = [];
    // A bold label belongs to a flag, which few others are near: it may stand further off.
    for (const shift of bold ? [0, 12, -12, 27, -27] : [0, 12, -12]) {
      places.push({ x: x + gap, y: y - h / 2 + shift, anchor: "start" });
      places.push({ x: x - gap - w, y: y - h / 2 + shift, anchor: "end" });
    }
    for (const shift of [-gap - h, gap]) places.push({ x: x - w / 2, y: y + shift, anchor: "middle" });
    for (const place of places) {
      const box = { x: place.x, y: place.y, w, h };
      if (this.free(box)) {
        const at = { start: place.x, end: place.x + w, middle: place.x + w / 2 }[place.anchor];
        return { x: at, y: place.y + h - 3, anchor: place.anchor, taken: this.take(box) };
      }
    }
    return null;
  }
}

function overlap(a, b) {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function shared(a, b) {
  return (Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) * (Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));
}

/** The text of a label at its place, which it holds only while it is shown. */
function labelAt(place, attributes) {
  const label = svg("text", { x: place.x, y: place.y, "text-anchor": place.anchor, ...attributes });
  place.taken.shown = () => label.style.display !== "none";
  return label;
}
