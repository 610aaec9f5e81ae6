// Puts the page together. A part that fails says so in its place; the others are still there.
Assay.start = function() {
  Assay.data = Assay.seen(JSON.parse(document.getElementById("assay-data").textContent));
  const data = Assay.data;
  const main = document.getElementById("main");
  if (data.schema !== "assay.report/1") {
    main.append(
        Assay.paragraph("The data in this page is not of the kind this page shows (assay.report/1).", "notice"));
    return;
  }
  const parts = Assay.parts.filter((part) => part.shown(data));
  Assay.build_top(document.getElementById("top"), data);
  Assay.build_contents(document.getElementById("contents"), parts);
  for (const part of parts) {
    const heading = Assay.element("h2", {id: `${part.id}-title`}, part.title);
    const section =
        Assay.element("section", {id: part.id, class: "part", "aria-labelledby": `${part.id}-title`}, heading);
    main.append(section);
    try {
      part.build(section, data);
    } catch (error) {
      section.append(Assay.paragraph(`This part could not be shown: ${error.message}`, "notice"));
      console.error(error);
    }
  }
  Assay.build_foot(document.getElementById("foot"), data);
  Assay.watch_surroundings();
};

Assay.start();
