// Figures: one sentence that says how to read the picture, the picture, and two buttons that save it.
Assay.file_name = (text) => String(text).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);

function save_blob(blob, name, format) {
  const link = Assay.element("a", {href: URL.createObjectURL(blob), download: `${name}.${format}`});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Draws the text of an SVG on a canvas of twice its size, and saves that.
function save_as_png(text, name) {
  const picture = new Image();
  const source = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  picture.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * picture.width;
    canvas.height = 2 * picture.height;
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    context.drawImage(picture, 0, 0);
    URL.revokeObjectURL(source);
    canvas.toBlob((blob) => save_blob(blob, name, "png"), "image/png");
  });
  picture.src = source;
}

// what: {host, save(format, name)} as Assay.plot gives it, or {host, svg()} with the text of an SVG. reading: a
// sentence. The result has set_reading(text).
Assay.figure = function(what, name, reading = "") {
  const words = Assay.element("p", {class: "reading", "aria-live": "polite"}, reading);
  const save = (format) => () => {
    const file = Assay.file_name(name);
    if (what.save) {
      what.save(format, file);
    } else if (format === "svg") {
      save_blob(new Blob([what.svg()], {type: "image/svg+xml"}), file, "svg");
    } else {
      save_as_png(what.svg(), file);
    }
  };
  const button = (format) => Assay.element(
      "button", {
        type: "button",
        class: "save",
        "data-format": format,
        "aria-label": `Save as ${format.toUpperCase()}: ${name}`,
        click: save(format)
      },
      `${format.toUpperCase()}`);
  const can_save = what.svg || Assay.has_plotly;
  const buttons = can_save ?
      Assay.element("div", {class: "saves"}, Assay.element("span", {}, "Save as"), button("svg"), button("png")) :
      null;
  const box = Assay.element("div", {class: "figure"}, words, what.host, buttons);
  box.set_reading = (text) => {
    words.textContent = text;
  };
  return box;
};

// Text that is not markup in an SVG.
Assay.svg_text = (text, length = 60) =>
    Assay.escaped(String(text).replace(/[\u0000-\u001f]/g, " "), length).replace(/"/g, "&quot;");
