// Two hosts, reached through the same four calls: a Jupyter widget's model, and a plain page without Python.

function widgetHost(model) {
  // Large values come as the bytes of JSON; each is read once.
  const read = new WeakMap();
  const unpacked = (value) => {
    if (!(value instanceof DataView)) return value;
    if (!read.has(value)) read.set(value, JSON.parse(new TextDecoder().decode(value)));
    return read.get(value);
  };
  return {
    live: true,
    get: (name) => unpacked(model.get(name)),
    set: (name, value) => model.set(name, value),
    save: () => model.save_changes(),
    on: (name, act) => model.on(`change:${name}`, act),
  };
}

function plainHost(values) {
  const listeners = new Map();
  return {
    live: false,
    get: (name) => values[name],
    set: (name, value) => {
      values[name] = value;
    },
    save: () => {},
    on: (name, act) => listeners.set(name, act),
  };
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** Turn every still picture of the page that carries its data into a stage. */
async function mountAll() {
  for (const place of document.querySelectorAll("[data-wmviz-stage]:not([data-wmviz-on])")) {
    place.dataset.wmvizOn = "";
    const values = await unpack(place.querySelector("script").textContent.trim());
    place.wmvizStage = new Stage(plainHost(values), place);
  }
}

export default {
  render({ model, el }) {
    const root = document.createElement("div");
    el.append(root);
    const stage = new Stage(widgetHost(model), root);
    return () => stage.close();
  },
};
