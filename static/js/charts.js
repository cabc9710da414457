// Replaces the drawing of a chart by an interactive one when it comes into view; without this script the drawing stays.
const OPTIONS = {
  mode: "vega-lite",
  ast: true, // interpreted: the content policy allows no code from text
  renderer: "svg",
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

const LEAST_WIDTH = 100;
const AXIS = 60;
const ALMOST = 0.25; // of a panel: what lacks less is made a little smaller
const FLAT = 0.6; // of its width: the height of a panel, where one stands below the other
const RESIZED = 40; // pixels
const SETTLED_MS = 200;

/* As wide as its box: by the width of the only panel, `spare` pixels aside, or by how many panels stand in a row. */
function fitted(spec, width, spare) {
  if (spec.columns) {
    const { column } = spec.spacing;
    const columns = Math.min(spec.columns, Math.max(1, Math.floor(width / (spec.spec.width + column) + ALMOST)));
    const most = columns === 1 ? Math.max(LEAST_WIDTH, width - column - AXIS) : Infinity;
    const height = Math.min(spec.spec.height, FLAT * most);
    return { ...spec, columns, spec: { ...spec.spec, height, width: Math.min(spec.spec.width, most) } };
  }
  return { ...spec, width: Math.max(LEAST_WIDTH, width - spare) };
}

async function replace(chart) {
  if (!chart.querySelector(".chart-box svg")) return; // not drawn yet; the page is shown anew once it is
  const { default: vegaEmbed } = await import(chart.dataset.vega);
  const box = chart.querySelector(".chart-box");
  const spec = JSON.parse(chart.querySelector("script[type='application/json']").textContent);
  const widthOf = (part) => part.querySelector("svg").width.baseVal.value;
  let spare = widthOf(box) - spec.width;
  let shownAt;
  const draw = async () => {
    shownAt = box.clientWidth;
    const stage = document.createElement("div");
    const isSmall = chart.matches(".is-small");
    const embed = async () => (await vegaEmbed(stage, isSmall ? spec : fitted(spec, shownAt, spare), OPTIONS)).finalize;
    let finalize = await embed();
    const excess = widthOf(stage) - shownAt;
    if (excess > 0 && !isSmall && !spec.columns) {
      // The letters of this browser are wider than those of the drawing.
      spare += excess;
      finalize();
      finalize = await embed();
    }
    // Where a panel has no points their container would be a picture without a name.
    stage.querySelectorAll("g[role='graphics-symbol']:empty").forEach((marks) => (marks.ariaHidden = "true"));
    box.replaceChildren(stage);
    chart.dataset.state = "interactive";
    return finalize;
  };
  let finalize = await draw();
  let timer;
  new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (!box.isConnected || Math.abs(box.clientWidth - shownAt) < RESIZED) return;
      finalize();
      finalize = await draw();
    }, SETTLED_MS);
  }).observe(box);
}

const inView = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    replace(target).catch((problem) => console.warn("The chart stays as drawn:", problem));
  }
}, { rootMargin: "100%" });

const watch = (part) => part.querySelectorAll("[data-vega]").forEach((chart) => inView.observe(chart));

watch(document);
document.addEventListener("htmx:load", (event) => watch(event.target));
