/* Search on pages that are opened from the disk: browsers start no workers there. This one runs in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.answer(data);
      this.scope.importScripts = () => {};
      this.waiting = [];
      const script = this.scope.document.createElement("script");
      script.src = url;
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      this.scope.document.head.appendChild(script);
    }
    answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.scope.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() {}
  };
}
