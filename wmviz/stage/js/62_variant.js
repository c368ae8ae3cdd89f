// Another run, variant B or that of another engine, below the stage's own plane, on the same axes and the same processing time, and what differs.

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
    const [name, about] = differing.captions[1];
    this.node.setAttribute("aria-label", name);
    this.sheet.setAttribute("aria-label", `${name} ${about}`);
    caption(this.name, name, about);
    const more = differing.more ? [html("li", { text: `… and ${differing.more} more.` })] : [];
    this.lines.replaceChildren(...differing.lines.map((text) => html("li", { text })), ...more);
    this.plane.rings.mark(differing.events[1]);
    this.plane.markFires(differing.fires[1]);
  }

  /** Draw what stands at a processing time: before the start it is null. */
  draw(at, ended, now, clock) {
    if (!this.plane) return;
    const { steps } = this.picture;
    const step = at === null ? -1 : ended ? steps.length - 1 : lastUpTo(steps, at);
    this.plane.draw(this.fates, this.fates.go(step), now, clock);
  }
}

/** Write which of two runs this is. */
function caption(node, name, about) {
  node.replaceChildren(html("strong", { text: name }), html("span", { text: about && ` ${about}` }));
}
