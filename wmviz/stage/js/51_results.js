// The table of results: key × window, with what the window holds and what the sink shows.

const LONG_UNIT = 15; // it is said once

class Results {
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.chosen = -1;
    this.rows = [];
    this.body = html("tbody");
    this.head = html("tr");
    this.note = html("p", { class: "wmviz-more" });
    this.table = html("table", {}, html("thead", {}, this.head), this.body);
    this.scroll = html("div", { class: "wmviz-scroll", tabindex: "0", role: "region", "aria-label": "Results by window and key" }, this.table);
    this.node = html("section", { class: "wmviz-results" }, this.scroll, this.note);
  }

  /** Show a picture; the rows stay where it has the same ones, so that only what they say is new. */
  show(picture) {
    const unit = picture.unit ? ` (${picture.unit})` : "";
    const head = ["key", `holds${unit.length > LONG_UNIT ? "" : unit}`, `in the sink${unit}`, "firings", "status"];
    const rows = picture.results.map(({ key, band }) => [key, picture.bands[band].label]);
    const frame = JSON.stringify([head, rows]);
    if (frame !== this.frame) {
      this.frame = frame;
      this.head.replaceChildren(...head.map((text) => html("th", { scope: "col", text })));
      this.build(rows);
    }
    this.timeline = new Timeline();
    this.rows[this.chosen]?.line.classList.remove("wmviz-chosen");
    this.chosen = -1;
    picture.results.forEach((result, index) => {
      const row = this.rows[index];
      if (row.group) this.fillGroup(row.group, picture.bands[result.band]);
      this.fill(row, result);
    });
    const left = picture.results_left_out;
    this.note.textContent = left ? `${left.toLocaleString("en")} more rows are not shown.` : "";
  }

  build(rows) {
    this.body.replaceChildren();
    this.rows = rows.map(([key, label], index) => {
      const group = label === rows[index - 1]?.[1] ? null : this.group(label);
      return { group, ...this.row(key, index) };
    });
  }

  /** The head of a window's rows: they stand from when the window first holds something. */
  group(label) {
    const state = html("span", { class: "wmviz-more" });
    const line = html("tr", { class: "wmviz-group" }, html("th", { scope: "rowgroup", colspan: 5 }, html("strong", { text: label }), state));
    this.body.append(line);
    return { line, state };
  }

  fillGroup({ line, state }, { states }) {
    line.hidden = true;
    this.timeline.add(states.map(([step]) => step), (stands) => {
      line.hidden = stands < 0 || states[stands][2] === "merged"; // and never fired: nothing is left to show
      if (stands >= 0) state.textContent = ` ${states[stands][2]}`;
    });
  }

  row(key, index) {
    const cells = Array.from({ length: 4 }, () => html("td"));
    const [holds, shows, firings, status] = cells;
    const [bar, value, lead] = [html("span", { class: "wmviz-bar" }), html("span"), html("span", { class: "wmviz-lead" })];
    const apart = html("span", { class: "wmviz-apart" });
    shows.append(bar, value, lead, apart);
    shows.className = "wmviz-shows";
    holds.className = firings.className = "wmviz-number";
    const button = html("button", { type: "button", class: "wmviz-of", title: "Mark the events that this is made of", text: key, onclick: () => this.onChoose(index) });
    const line = html("tr", {}, html("td", {}, button), ...cells);
    this.body.append(line);
    return { line, holds, value, bar, lead, apart, firings, status };
  }

  fill({ line, holds, value, bar, lead, apart, firings, status }, { changes }) {
    line.hidden = true;
    this.timeline.add(changes.map(([step]) => step), (stands) => {
      const [, running, written, count, state, share, leads, uncommitted] = changes[stands] ?? [];
      line.hidden = stands < 0 || (state === "merged" && !count);
      if (stands < 0) return;
      holds.textContent = running || "–";
      value.textContent = written || "–";
      bar.style.width = `${Math.round(share * 100)}%`;
      lead.textContent = leads ? "highest" : "";
      apart.textContent = uncommitted;
      firings.textContent = count;
      status.textContent = state;
      line.dataset.status = state;
      line.classList.toggle("wmviz-leads", leads === 1);
    });
  }

  draw(step, chosen) {
    this.timeline.go(step);
    if (chosen === this.chosen) return;
    this.rows[this.chosen]?.line.classList.remove("wmviz-chosen");
    this.rows[chosen]?.line.classList.add("wmviz-chosen");
    this.chosen = chosen;
  }
}

/** The events that a result is made of at a step. */
function membersOf({ made }, step) {
  let members = [];
  for (const [at, keep, ...events] of made) {
    if (at > step) break;
    members = [...members.slice(0, keep), ...events];
  }
  return members;
}
