// An embed that cannot show what its address names tells the page around it why.

const place = document.getElementById('em-refused');
if (window.parent !== window) {
  const sentence = document.getElementById('em-sentence').textContent;
  window.parent.postMessage({ source: 'scheduler-sandbox', version: 1, type: 'refused', status: Number(place.dataset.status), sentence }, '*');
}
