// Marbles: where each event stands in its life at the playhead, and the layers that draw it.

const MOST_SVG = 3000; // events drawn as SVG; more go on a canvas
const MOST_NAMED = 120; // marbles that get their key beside them

/** The look of every event at the playhead; -1 before it has arrived. */
class Fates {
  constructor(picture) {
    this.looks = new Int8Array(picture.events.length).fill(-1);
    this.timeline = new Timeline();
    this.changed = new Set(picture.events.keys());
    picture.event_looks.forEach((changes, index) => {
      const [steps, looks] = unzip(changes);
      this.timeline.add(steps, (stands) => {
        const before = this.looks[index];
        this.looks[index] = stands < 0 ? -1 : looks[stands];
        this.changed.add(index);
        this.onLook?.(this.looks[index], before);
      });
    });
  }

  /** Go to a step; give where it came from and the events whose look has changed. */
  go(step) {
    const before = this.timeline.step;
    this.timeline.go(step);
    const { changed } = this;
    this.changed = new Set();
    return { before, step, changed };
  }
}

/** The marbles of one part of the stage, at points of its own. */
class Marbles {
  constructor(picture, points, sheet, { scale, coming = false }) {
    Object.assign(this, { picture, points, scale, coming });
    this.marks = [];
    this.shown = new Int8Array(points.length).fill(-2);
    this.layer = svg("g");
    this.canvas = points.length > MOST_SVG ? new MarbleCanvas(picture, points, sheet) : null;
  }

  /** Take another picture of the same events. */
  fill(picture) {
    this.picture = picture;
    this.canvas?.empty();
  }

  draw(fates, { before, step, changed }) {
    this.looks = fates.looks;
    if (this.canvas) this.canvas.draw(fates.looks, before, step, changed);
    else for (const index of changed) this.drawMarble(index, fates.looks[index]);
  }

  drawMarble(index, look) {
    if (look === this.shown[index]) return;
    this.shown[index] = look;
    if (look < 0 && !this.coming && !this.marks[index]) return;
    const mark = (this.marks[index] ??= this.newMarble(index));
    mark.style.display = look < 0 && !this.coming ? "none" : "";
    mark.dataset.look = look;
    mark.setAttribute("d", this.picture.shapes[Math.max(look, 0)]);
    mark.setAttribute("class", `wmviz-marble ${look < 0 ? "wmviz-coming" : `wmviz-look-${look}`}`);
  }

  newMarble(index) {
    const [x, y] = this.points[index];
    const mark = svg("path", { transform: `translate(${x} ${y})${this.scale === 1 ? "" : ` scale(${this.scale})`}` });
    this.layer.append(mark);
    return mark;
  }

  /** The marbles in a box, among those that stand. */
  inside({ x, y, w, h }) {
    return this.points.flatMap(([px, py], index) => (this.looks?.[index] >= 0 && px >= x && px <= x + w && py >= y && py <= y + h ? [index] : []));
  }

  /** The marble nearest to a point, among those that stand; -1 if none is near. */
  nearest(x, y, reach = 18) {
    let found = -1;
    let best = reach * reach;
    this.points.forEach(([px, py], index) => {
      if (!this.coming && !(this.looks?.[index] >= 0)) return;
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance <= best) [found, best] = [index, distance];
    });
    return found;
  }
}

// Many marbles: painted on a canvas below the SVG. Forward, only what is new is painted; backward, all of it again.
class MarbleCanvas {
  constructor(picture, points, { width, height }) {
    Object.assign(this, { points, width, height });
    this.rises = [];
    this.node = html("canvas", { class: "wmviz-canvas", "aria-hidden": "true" });
    this.scale = window.devicePixelRatio || 1;
    this.node.width = width * this.scale;
    this.node.height = height * this.scale;
    this.node.style.width = `${width}px`;
    this.node.style.height = `${height}px`;
    this.pen = this.node.getContext("2d");
    this.pen.scale(this.scale, this.scale);
    this.shapes = picture.shapes.map((d) => new Path2D(d));
    this.looks = [];
  }

  /** Add a piece of a line that stands from a step on: [step, outline, colour, width, dashes]. */
  rise(step, d, ...pen) {
    this.rises.push([step, new Path2D(d), ...pen]);
    this.sorted = false;
  }

  /** The pieces that stand from some step on up to another, in order. */
  risesBetween(before, step) {
    if (!this.sorted) {
      this.rises.sort(([a], [b]) => a - b);
      this.riseSteps = this.rises.map(([at]) => at);
      this.sorted = true;
    }
    return this.rises.slice(lastUpTo(this.riseSteps, before) + 1, lastUpTo(this.riseSteps, step) + 1);
  }

  empty() {
    this.rises = [];
    this.sorted = false;
    this.pen.clearRect(0, 0, this.width, this.height);
  }

  draw(looks, before, step, changed) {
    Object.assign(this, { looks, step });
    if (step < before) this.again();
    else this.paint(before, changed);
  }

  /** Paint everything that stands, from nothing: going back, or in other colours. */
  again() {
    this.pen.clearRect(0, 0, this.width, this.height);
    this.paint(-1, this.looks.keys());
  }

  paint(before, indexes) {
    const style = getComputedStyle(this.node);
    const colour = (name) => style.getPropertyValue(name);
    this.paintRises(before, colour);
    this.pen.setLineDash([]);
    this.pen.lineWidth = 2;
    const [colours, paper] = [this.shapes.map((_, look) => colour(`--wmviz-look-${look}`)), colour("--wmviz-paper")];
    const half = this.scale / 2;
    for (const index of indexes) {
      const look = this.looks[index];
      if (look < 0) continue;
      const [x, y] = this.points[index];
      this.pen.setTransform(half, 0, 0, half, x * this.scale, y * this.scale);
      this.pen.fillStyle = HOLLOW.has(look) ? paper : colours[look];
      if (look !== CROSS) this.pen.fill(this.shapes[look]);
      if (look !== CROSS && !HOLLOW.has(look)) continue;
      this.pen.strokeStyle = colours[look];
      this.pen.stroke(this.shapes[look]);
    }
    this.pen.setTransform(this.scale, 0, 0, this.scale, 0, 0);
  }

  paintRises(before, colour) {
    const colours = {};
    for (const [, path, stroke, width, dash] of this.risesBetween(before, this.step)) {
      this.pen.strokeStyle = colours[stroke] ??= colour(stroke);
      this.pen.lineWidth = width;
      this.pen.setLineDash(dash);
      this.pen.stroke(path);
    }
  }
}
