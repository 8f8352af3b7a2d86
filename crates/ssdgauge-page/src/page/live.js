(() => {
  'use strict';
  // The page is loaded again while it is looked at. The address keeps whether that is paused.
  const button = document.getElementById('pause');
  const HELD = '#paused';
  let timer;
  const show = () => {
    const isHeld = location.hash === HELD;
    button.hidden = false;
    button.textContent = isHeld ? 'Follow again' : 'Pause';
    clearTimeout(timer);
    if (!isHeld) timer = setTimeout(again, 1000 * button.dataset.every);
  };
  const again = () => (document.hidden ? show() : location.reload());
  button.addEventListener('click', () => {
    history.replaceState(null, '', location.hash === HELD ? location.pathname : HELD);
    show();
  });
  show();
})();
