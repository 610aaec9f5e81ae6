// Attribution maps: a row's image in greys, with what speaks for the target in one colour and what against it in
// another. Maps keep their light ground in the dark theme too: both colours fade into it.
const map_colours = {
  positive: [202, 70, 0],
  negative: [0, 98, 168],
  neutral: [84, 70, 110],  // ranks have no direction
};

// Sums over channels, which lie one after the other.
function by_pixel(values, image) {
  const size = image.height * image.width;
  const sums = new Array(size).fill(0);
  values.forEach((value, index) => {
    if (Assay.is_number(value)) sums[index % size] += value;
  });
  return sums;
}

// The image as light greys, dark ground turned light: the map must stand out from it.
function ground(pixels, image) {
  const size = image.height * image.width;
  if (!pixels) return new Array(size).fill(250);
  const channels = Math.max(1, Math.floor(pixels.length / size));
  const mean = by_pixel(pixels, image).map((sum) => sum / channels);
  const overall = mean.reduce((sum, value) => sum + value, 0) / size;
  return mean.map((value) => 250 - 0.36 * (overall < 128 ? value : 255 - value));
}

function canvas_of(image, label, colour_of) {
  const canvas = Assay.element("canvas", {width: image.width, height: image.height, role: "img", "aria-label": label});
  const context = canvas.getContext("2d");
  const picture = context.createImageData(image.width, image.height);
  for (let index = 0; index < image.height * image.width; ++index) {
    const [red, green, blue] = colour_of(index);
    picture.data.set([red, green, blue, 255], 4 * index);
  }
  context.putImageData(picture, 0, 0);
  return canvas;
}

// The size at which the colour is full: reached by the strongest hundredth of the pixels.
function full_size(values) {
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  const strong = sizes[Math.min(sizes.length - 1, Math.floor(0.99 * sizes.length))];
  return strong > 0 ? strong : sizes[sizes.length - 1];
}

function map_canvas(values, image, under, label, signs = true) {
  const sums = by_pixel(values, image);
  const full = full_size(sums);
  return canvas_of(image, label, (index) => {
    const share = full > 0 ? Math.min(1, Math.abs(sums[index]) / full) : 0;
    const colour = !signs ? map_colours.neutral : sums[index] < 0 ? map_colours.negative : map_colours.positive;
    return colour.map((part) => under[index] + share * (part - under[index]));
  });
}

function original_canvas(pixels, image) {
  const size = image.height * image.width;
  const coloured = pixels.length >= 3 * size;
  return canvas_of(
      image,
      "The image itself",
      (index) => coloured ? [pixels[index], pixels[size + index], pixels[2 * size + index]] :
                            [pixels[index], pixels[index], pixels[index]],
  );
}

function captioned(canvas, name, notes) {
  const caption = Assay.element("figcaption", {}, Assay.breakable(name));
  notes.forEach((note) => caption.append(Assay.element("small", {}, note)));
  return Assay.element("figure", {class: "map"}, canvas, caption);
}

// Maps of one row, one for each explanation.
Assay.image_maps = function(data, row) {
  const grid = Assay.element("div", {class: "maps"});
  const under = ground(row.pixels, data.image);
  if (row.pixels) grid.append(captioned(original_canvas(row.pixels, data.image), "image", [`target ${row.target}`]));
  Assay.reading_order().forEach((index) => {
    const entry = data.entries[index];
    const values = row.values[index];
    if (!values) {
      const none = Assay.element("div", {class: "no-map"}, "undefined");
      grid.append(captioned(none, entry.name, []));
      return;
    }
    const notes = [Assay.entry_note(index)].filter(Boolean);
    data.criteria.forEach((criterion, place) => {
      const score = row.scores && row.scores[index] ? row.scores[index][place] : null;
      if (!criterion.main || !Assay.is_number(score)) return;
      notes.push(`${Assay.criterion_name(criterion)} ${Assay.number(score, 3)}`);
    });
    const canvas = map_canvas(values, data.image, under, `Attribution map of ${entry.name}`, entry.has_signs);
    const map = captioned(canvas, entry.name, notes);
    if (Assay.is_unfaithful(index)) map.classList.add("unfaithful");
    grid.append(map);
  });
  const words = Assay.element("p", {class: "explain key"});
  words.append(
      Assay.element("span", {class: "swatch positive"}),
      " speaks for the target ",
      Assay.element("span", {class: "swatch negative"}),
      " speaks against it; ranks, which have no direction, are violet. Each map has its own scale; the strongest hundredth " +
          "of its pixels has the full colour.",
  );
  return Assay.element("div", {}, words, grid);
};

// The mean |attribution| of all rows with one target.
Assay.importance_map = function(data, values, name) {
  const under = ground(null, data.image);
  const canvas = map_canvas(
      values.map((value) => (Assay.is_number(value) ? Math.abs(value) : 0)), data.image, under, `Mean map of ${name}`,
      false);
  return captioned(canvas, "mean |attribution| of each pixel", []);
};
