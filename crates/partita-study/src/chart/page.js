// Charts of a page: drag to zoom, double-click to see all again, and the values under the pointer below the chart.
for (const svg of document.querySelectorAll("svg.chart")) {
  const [left, top, right, bottom] = svg.dataset.plot.split(" ").map(Number);
  const axis = (text) => {
    const [low, high, log] = text.split(" ").map(Number);
    return (share) => (log ? 10 ** (low + share * (high - low)) : low + share * (high - low));
  };
  const [x, y, all] = [axis(svg.dataset.x), axis(svg.dataset.y), svg.getAttribute("viewBox")];
  const values = document.createElement("output");
  svg.after(values);
  const frame = document.createElementNS(svg.namespaceURI, "rect");
  frame.setAttribute("fill", "#1845fb22");
  let from = null;

  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const box = (a, b) => [Math.min(a.x, b.x), Math.min(a.y, b.y), Math.abs(a.x - b.x), Math.abs(a.y - b.y)];

  svg.addEventListener("pointerdown", (event) => {
    from = place(event);
    svg.setPointerCapture(event.pointerId);
    svg.append(frame);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    const at = place(event);
    const [across, up] = [(at.x - left) / (right - left), (bottom - at.y) / (bottom - top)];
    const inside = across >= 0 && across <= 1 && up >= 0 && up <= 1;
    values.textContent = inside ? `${x(across).toPrecision(4)}, ${y(up).toPrecision(4)}` : "";
    const [fx, fy, width, height] = from ? box(from, at) : [0, 0, 0, 0];
    Object.entries({ x: fx, y: fy, width, height }).forEach(([name, value]) => frame.setAttribute(name, value));
  });
  svg.addEventListener("pointerup", (event) => {
    const chosen = from && box(from, place(event));
    // A click is not a frame.
    if (chosen && chosen[2] > 8 && chosen[3] > 8) svg.setAttribute("viewBox", chosen.join(" "));
    from = null;
    frame.remove();
  });
  svg.addEventListener("dblclick", () => svg.setAttribute("viewBox", all));
}
