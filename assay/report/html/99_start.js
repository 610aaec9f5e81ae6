// The order of the parts: first what most people ask. A part that is not named here comes before the last.
const part_order =
    ["trust", "importance", "rows", "cohorts", "criteria", "tradeoff", "agreement", "curves", "provenance"];

// Attributions of pixels come as whole steps, to save space; everything else reads numbers.
function unpack_steps(data) {
  const unpacked = (lists) => lists.map((one) => (one && one.steps ? one.steps.map((count) => count * one.step) : one));
  for (const row of data.rows) row.values = unpacked(row.values);
  for (const block of data.importance) block.mean_abs = unpacked(block.mean_abs);
}

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
  unpack_steps(data);
  const place = (part) => (part_order.includes(part.id) ? part_order.indexOf(part.id) : part_order.length - 1.5);
  const parts = Assay.parts.filter((part) => part.shown(data) && (!data.summary_only || part.id === "trust"))
                    .sort((a, b) => place(a) - place(b));
  document.body.classList.toggle("summary-only", data.summary_only === true);
  Assay.build_top(document.getElementById("top"), data);
  performance.mark("assay-first-view");
  if (!data.summary_only) Assay.build_contents(document.getElementById("contents"), parts);
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
  performance.mark("assay-built");
  // What was asked for by the address is there only now.
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted) wanted.scrollIntoView();
  requestAnimationFrame(() => setTimeout(() => {
                          performance.mark("assay-painted");
                          Assay.load_plotly();
                        }, 0));
};

Assay.start();
