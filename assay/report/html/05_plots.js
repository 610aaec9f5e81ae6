// Plots: drawn when they come near the screen, drawn again when colours change, all drawn before printing. Without
// plotly.js nothing is drawn here, and the parts show their tables.
//
// plotly.js lies in the page as text, which costs nothing to read. It is run after the first view is on the screen.
Assay.plots = [];
Assay.printing = false;
const plotly_text = document.getElementById("plotly");
Assay.has_plotly = Boolean(plotly_text) && plotly_text.textContent.trim() !== "";

Assay.load_plotly = function() {
  if (!Assay.has_plotly || window.Plotly) return;
  const script = document.createElement("script");
  script.textContent = plotly_text.textContent;
  plotly_text.replaceWith(script);
  performance.mark("assay-plots-ready");
  for (const plot of Assay.plots) if (plot.wanted) draw(plot);
};

// Okabe and Ito's colours, told apart with the common kinds of colour blindness.
Assay.series_colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c6bb1", "#999933"];
Assay.series_symbols = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon"];

Assay.colours = function() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: colour("text"),
    quiet: colour("quiet"),
    line: colour("line"),
    page: colour("card"),
    method: colour("method"),
    aggregate: colour("aggregate"),
    positive: colour("positive"),
    negative: colour("negative"),
    neutral: colour("neutral"),
    muted: colour("muted"),
  };
};

Assay.with_alpha = function(hex, alpha) {
  const part = (from) => parseInt(hex.slice(from, from + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${alpha})`;
};

Assay.narrow = () => !Assay.printing && window.innerWidth < 640;

Assay.axis = function(title, more = {}) {
  const colours = Assay.colours();
  return {
    title: {text: title, standoff: 8},
    gridcolor: colours.line,
    zerolinecolor: colours.quiet,
    zerolinewidth: 1,
    linecolor: colours.line,
    automargin: true,
    ...more,
  };
};

function whole_layout(layout) {
  const colours = Assay.colours();
  const all = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: {family: "system-ui, -apple-system, 'Segoe UI', sans-serif", size: 13, color: colours.text},
    hoverlabel: {bgcolor: colours.page, bordercolor: colours.quiet, font: {color: colours.text}, align: "left"},
    margin: {l: 60, r: 16, t: 16, b: 56},
    hovermode: "closest",
    // A finger that drags over a plot means to scroll the page.
    dragmode: Assay.narrow() ? false : "zoom",
    ...layout,
  };
  if (Assay.printing) {
    all.width = 680;
    all.autosize = false;
  } else {
    all.autosize = true;
  }
  return all;
}

function draw(plot) {
  if (!Assay.has_plotly) return;
  plot.wanted = true;
  if (!window.Plotly) return;
  plot.drawn = true;
  const {traces, layout} = plot.make();
  plot.host.hidden = traces.length === 0;
  if (plot.host.hidden) return;
  plot.host.style.minHeight = `${layout.height}px`;
  const config = {
    displaylogo: false,
    responsive: true,
    showSendToCloud: false,
    showEditInChartStudio: false,
    displayModeBar: false,
  };
  window.Plotly.react(plot.host, traces, whole_layout(layout), config);
}

const plot_watch = typeof IntersectionObserver === "undefined" ?
    null :
    new IntersectionObserver(
        (sights) => {
          for (const sight of sights) {
            const plot = Assay.plots.find((one) => one.host === sight.target);
            if (!sight.isIntersecting || !plot || plot.drawn) continue;
            plot_watch.unobserve(sight.target);
            draw(plot);
          }
        },
        {rootMargin: "300px"},
    );

// make() gives {traces, layout}; layout.height is set. redraw() of the result draws again with what is chosen now.
// describe(text) says what is seen to people who do not see it.
Assay.plot = function(label, height, make) {
  const host = Assay.element("div", {class: "plot", role: "img", "aria-label": label});
  const plot = {host, make, drawn: false};
  plot.redraw = () => plot.drawn && draw(plot);
  plot.describe = (text) => host.setAttribute("aria-label", text);
  plot.save = (format, name) => {
    const {traces, layout} = plot.make();
    const whole = {...whole_layout(layout), paper_bgcolor: Assay.colours().page};
    const options = {format, filename: name, width: host.clientWidth || 700, height: layout.height, scale: 2};
    return window.Plotly.downloadImage({data: traces, layout: whole}, options);
  };
  if (!Assay.has_plotly) {
    host.hidden = true;
    return plot;
  }
  host.style.minHeight = `${height}px`;
  Assay.plots.push(plot);
  if (plot_watch) {
    plot_watch.observe(host);
  } else {
    setTimeout(() => draw(plot), 0);
  }
  return plot;
};

// What must follow the colours or the width but is no Plotly plot (canvases, grids) listens here.
Assay.listeners = [];
Assay.when_changed = (action) => Assay.listeners.push(action);

function draw_again() {
  for (const plot of Assay.plots) plot.redraw();
  for (const action of Assay.listeners) action();
}

Assay.watch_surroundings = function() {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_again);
  let was_narrow = Assay.narrow();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (Assay.printing || window.innerWidth === width) return;
    width = window.innerWidth;
    for (const action of Assay.listeners) action();
    if (was_narrow === Assay.narrow()) return;
    was_narrow = Assay.narrow();
    for (const plot of Assay.plots) plot.redraw();
  });
  window.addEventListener("beforeprint", () => {
    if (Assay.printing) return;
    Assay.load_plotly();
    Assay.printing = true;
    document.documentElement.classList.add("printing");
    for (const fold of Assay.folds) {
      fold.opened_to_print = !fold.details.open;
      fold.make();
      fold.details.open = true;
    }
    for (const plot of Assay.plots) draw(plot);
    for (const action of Assay.listeners) action();
  });
  window.addEventListener("afterprint", () => {
    Assay.printing = false;
    document.documentElement.classList.remove("printing");
    for (const fold of Assay.folds) {
      if (fold.opened_to_print) fold.details.open = false;
    }
    draw_again();
  });
};
