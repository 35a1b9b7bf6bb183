// The search of a site that is opened from disk. Browsers refuse to start a worker from a file: URL, so
// the worker's script runs in a hidden frame of the page, with the functions that a worker has. The search
// script of the theme looks for IFrameWorker in its parent, to find its own address.
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.ready = new Promise((resolve) => {
        this.frame.onload = () => resolve(this.start(url));
      });
      document.body.append(this.frame);
    }

    start(url) {
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script");
          script.src = source;
          script.onload = () => resolve(inner);
          script.onerror = () => reject(new Error(`cannot load ${source}`));
          inner.document.head.append(script);
        });
      inner.importScripts = (...sources) =>
        sources.reduce((done, source) => done.then(() => load(source)), Promise.resolve());
      return load(url);
    }

    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }
  window.IFrameWorker = window.Worker = FrameWorker;
}
