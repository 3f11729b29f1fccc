// Large libraries are loaded when they are first needed, and once.

const loading = new Map(); // URL → promise

export function load(url) {
  if (!loading.has(url)) {
    loading.set(url, new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = url;
      script.onload = resolve;
      script.onerror = () => { loading.delete(url); reject(new Error(`${url} could not be loaded`)); };
      document.head.append(script);
    }));
  }
  return loading.get(url);
}
