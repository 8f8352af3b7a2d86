// Looks at a finished page as a reader would, and returns everything that is wrong with it.
function () {
  const wrong = [];
  const say = (what, element) => {
    const words = (element && (element.getAttribute('aria-label') || element.textContent) || '');
    wrong.push(what + ': ' + words.trim().slice(0, 80));
  };
  const shown = element => element.checkVisibility({ checkVisibilityCSS: true });

  // Charts: drawn, wide enough, within the window.
  const figures = [...document.querySelectorAll('figure')].filter(shown);
  for (const figure of figures) {
    const charts = [...figure.querySelectorAll('.chart')].filter(shown);
    if (charts.length !== 1) say('a figure with ' + charts.length + ' visible charts', figure);
    for (const chart of charts) {
      if (!chart.getAttribute('aria-label')) say('a chart without a text', figure);
      const box = chart.querySelector('svg').getBoundingClientRect();
      if (box.width < 280 || box.height < 40) say('an empty chart', chart);
      if (box.right > innerWidth + 1) say('a chart beyond the window', chart);
      const marks = chart.querySelectorAll('path, circle, rect').length;
      const words = chart.querySelectorAll('text').length;
      if (marks === 0 && words === 0) say('a blank chart', chart);
      const sizes = [...chart.querySelectorAll('text')].map(text => {
        const scale = box.width / chart.querySelector('svg').viewBox.baseVal.width;
        return parseFloat(getComputedStyle(text).fontSize) * scale;
      });
      if (Math.min(...sizes) < 9.5) say('letters of ' + Math.min(...sizes) + ' px', chart);
    }
    if (!figure.querySelector('figcaption')) say('a figure without a caption', figure);
    if (!figure.querySelector('table')) say('a figure without its numbers', figure);
  }
  if (document.documentElement.scrollWidth > innerWidth) {
    say('the page is ' + document.documentElement.scrollWidth + ' wide');
  }

  // Contrast, by WCAG 2.2: 4.5 for text, 3 for large text and for what is drawn.
  const channels = colour => {
    const parts = colour.match(/[\d.]+/g);
    return parts && colour.startsWith('rgb') ? parts.map(Number) : null;
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (top, below) => {
    const alpha = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(i => top[i] * alpha + below[i] * (1 - alpha));
  };
  const ground = element => {
    const above = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour) above.push(colour);
    }
    return above.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const ratio = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !shown(parent)) continue;
    const style = getComputedStyle(parent);
    const ink = parent.closest('svg') ? channels(style.fill) : channels(style.color);
    if (!ink) continue;
    texts += 1;
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const behind = ground(parent);
    const contrast = ratio(over(ink, behind), behind);
    if (contrast < (large ? 3 : 4.5)) say('contrast ' + contrast.toFixed(2), parent);
  }
  if (texts < 50) say('only ' + texts + ' texts');
  for (const drawn of document.querySelectorAll('.chart path, .swatch')) {
    if (!shown(drawn)) continue;
    const style = getComputedStyle(drawn);
    const ink = channels(drawn.closest('svg') ? style.stroke : style.color);
    if (!ink) continue;
    const behind = ground(drawn.closest('section') || document.body);
    const contrast = ratio(over(ink, behind), behind);
    if (contrast < 3) say('a line of contrast ' + contrast.toFixed(2), drawn.closest('figure'));
  }

  // Structure: a language, a title, one first heading, no level left out, links that lead somewhere.
  if (!document.documentElement.lang) say('no language');
  if (!document.title) say('no title');
  if (document.querySelectorAll('h1').length !== 1) say('not one first heading');
  let level = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) say('a level of headings left out', heading);
    level = next;
  }
  const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
  if (new Set(ids).size !== ids.length) say('an id stands twice');
  for (const link of document.querySelectorAll('a[href]')) {
    const target = link.getAttribute('href');
    if (!target.startsWith('#') || !document.getElementById(target.slice(1))) {
      say('a link to nowhere', link);
    }
  }
  for (const head of document.querySelectorAll('th')) {
    if (!head.scope) say('a head of a table without scope', head);
  }
  return { wrong: [...new Set(wrong)].slice(0, 30), figures: figures.length };
}
