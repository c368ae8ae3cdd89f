// The controls: buttons, the scrubber, speed, and the parameters, which Python reads and answers.

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

class Controls {
  constructor(actions) {
    this.actions = actions;
    const button = (name, label, act) => html("button", { type: "button", "aria-label": label, title: label, onclick: act }, icon(name));
    this.playButton = button("play", "Play (space)", () => actions.toggle());
    this.scrub = html("input", { type: "range", min: -1, max: 0, value: -1, step: 1, class: "wmviz-scrub", "aria-label": "Moment", oninput: () => actions.scrub(Number(this.scrub.value)) });
    this.speed = html("select", { "aria-label": "Speed", title: "Speed", onchange: () => actions.speed(Number(this.speed.value)) });
    for (const speed of SPEEDS) this.speed.append(html("option", { value: speed, text: `${speed}×` }));
    this.node = html(
      "div",
      { class: "wmviz-controls", role: "group", "aria-label": "Controls" },
      button("start", "To the start (Home)", () => actions.reset()),
      button("back", "Back one moment (←; shift: one step)", (event) => actions.step(-1, event.shiftKey)),
      this.playButton,
      button("forward", "Forward one moment (→; shift: one step)", (event) => actions.step(1, event.shiftKey)),
      button("end", "To the end (End)", () => actions.end()),
      this.scrub,
      this.speed,
    );
  }

  show(picture) {
    this.scrub.max = picture.moments.length - 1;
  }

  draw(moment, words, playing, speed) {
    this.scrub.value = moment;
    this.scrub.setAttribute("aria-valuetext", words);
    this.speed.value = String(speed);
    if (playing !== this.playing) {
      this.playing = playing;
      const label = playing ? "Pause (space)" : "Play (space)";
      this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
      this.playButton.setAttribute("aria-label", label);
      this.playButton.title = label;
    }
  }
}

// Which parts are open beside the plane.
class Parts {
  constructor(onToggle) {
    this.buttons = [["lanes", "Lanes"], ["pipeline", "Pipeline"], ["results", "Results"]].map(([part, text]) => [part, html("button", { type: "button", class: "wmviz-part", text, onclick: () => onToggle(part) })]);
    this.node = html("div", { class: "wmviz-parts", role: "group", "aria-label": "Parts of the stage" }, ...this.buttons.map(([, button]) => button));
  }

  show(open) {
    for (const [part, button] of this.buttons) button.setAttribute("aria-pressed", open.includes(part));
  }
}

class Parameters {
  constructor(onChange) {
    this.onChange = onChange;
    this.fields = new Map();
    this.problem = html("p", { class: "wmviz-problem", role: "alert" });
    this.problem.hidden = true;
    this.list = html("div", { class: "wmviz-fields" });
    this.node = html("div", { class: "wmviz-parameters", role: "group", "aria-label": "Parameters" }, this.list, this.problem);
  }

  show(sliders, live) {
    if ([...this.fields.keys()].join() !== sliders.map(({ name }) => name).join()) {
      this.fields.clear();
      this.list.replaceChildren(...sliders.map((slider) => (live ? this.field(slider) : this.fact(slider))));
    }
    if (live) for (const slider of sliders) this.fields.get(slider.name).show(slider);
  }

  fact({ label, about, text }) {
    return html("p", { class: "wmviz-fact", title: about }, html("span", { text: label }), html("strong", { text }));
  }

  field({ name, label, about }) {
    let stops = [];
    const slider = html("input", { type: "range", min: 0, step: 1, "aria-label": label, oninput: () => send(stops[Number(slider.value)]) });
    const text = html("input", { type: "text", size: 9, spellcheck: "false", "aria-label": `${label}, as text`, onchange: () => send(text.value) });
    const send = (value) => {
      slider.setAttribute("aria-valuetext", value);
      if (document.activeElement !== text) text.value = value;
      this.onChange(name, value);
    };
    const show = (now) => {
      stops = now.stops;
      slider.max = stops.length - 1;
      slider.setAttribute("aria-valuetext", now.text);
      if (document.activeElement !== slider) slider.value = now.at;
      if (document.activeElement !== text || text.value !== now.text) text.value = now.text;
    };
    this.fields.set(name, { show });
    return html("div", { class: "wmviz-field", title: about }, html("span", { class: "wmviz-field-name", text: label }), slider, text);
  }

  tell(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
  }
}
