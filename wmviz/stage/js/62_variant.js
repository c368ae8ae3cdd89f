// Variant B below the stage's own plane, on the same axes and the same processing time, and what differs.

class Variant {
  constructor() {
    this.name = html("p", { class: "wmviz-variant-name" });
    this.sheet = html("div", { class: "wmviz-surface", role: "img" });
    this.lines = html("ul", { class: "wmviz-differences", "aria-label": "What differs" });
    this.node = html("section", { class: "wmviz-variant", "aria-label": "Variant B" }, this.name, this.sheet, this.lines);
  }

  show(picture, differing, width, highest) {
    this.node.hidden = !picture.id;
    if (!picture.id) this.plane = null;
    if (!picture.id || !width) return;
    this.picture = picture;
    this.fates = new Fates(picture);
    this.plane = new Plane(picture, width, highest);
    this.sheet.replaceChildren(this.plane.node);
    this.sheet.setAttribute("aria-label", `Variant B: ${differing.settings}`);
    this.name.replaceChildren(html("strong", { text: "B" }), html("span", { text: ` kept · ${differing.settings}` }));
    const more = differing.more ? [html("li", { text: `… and ${differing.more} more.` })] : [];
    const lines = differing.lines.map((text) => html("li", { text }));
    this.lines.replaceChildren(...(lines.length ? lines : [html("li", { text: "At the end nothing differs." })]), ...more);
    this.plane.rings.mark(differing.b);
  }

  /** Draw what stands at a processing time: before the start it is null. */
  draw(at, ended, now, clock) {
    if (!this.plane) return;
    const { steps } = this.picture;
    const step = at === null ? -1 : ended ? steps.length - 1 : lastUpTo(steps, at);
    this.plane.draw(this.fates, this.fates.go(step), now, clock);
  }
}
