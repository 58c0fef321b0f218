import AttacheQueue
import Foundation

/// A queue in the format of earlier versions of attache: a folder with a file for each payload, in
/// each state.
///
/// The names are as those versions wrote them, with the times of ``ManualQueueClock``: numbers in
/// radix 36, `q` enqueued at, `n` not before, `e` expires at, `a` attempts, `d` deaths, `s` deaths
/// alone, `f` fence, `k` the SHA-256 of the key, `b` the machine's start, `u` until, `w` worker,
/// `o` outcome, `r` reason, `t` finished at, `x` dead, `m` read, `c` has its original, `h` has
/// holds.
struct EarlierQueueFixture {
  static let key: [UInt8] = [1, 2, 3]
  private static let keyDigest = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
  /// The boot identifier for "first boot".
  private static let boot = "52062148cd121808"
  private static func number(_ value: Int) -> String { String(value, radix: 36) }
  private static let wall = 1_794_000_000_000_000
  private static let (enqueued, finished) = (number(wall - 60_000_000), number(wall - 10_000_000))

  var files: [String: String] = [
    "queue": "attache queue 1\n",
    "lock": "21                   9                    \(boot)    \n",
    // Worker 1 died; worker 2 closed the queue.
    "workers": "\0RC",
    "ready/10/0/1,q\(enqueued);": "ready\n",
    "ready/5/0/2,p5,q\(enqueued),a2,f3,k\(keyDigest);": "low\n",
    "ready/10/0/3,q\(enqueued);cat.json": "{\"dropped\":1}",
    "suspects/4,q\(enqueued),d2,f4;": "suspect\n",
    "later/wall,1794000060/5,q\(enqueued),n\(number(wall + 60_000_000)),e\(number(wall + 600_000_000));": "not before\n",
    "later/\(boot),5050/6,q\(enqueued),a1,f5,b\(boot),u\(number(5_050_000_000));": "delayed\n",
    "later/0123456789abcdef,50/7,q\(enqueued),f5,b0123456789abcdef,u\(number(50_000_000));": "delayed before the start\n",
    "leased/8,q\(enqueued),f7,b\(boot),u\(number(5_060_000_000)),w1,l;": "of one that died\n",
    "leased/9,q\(enqueued),f7,b\(boot),u\(number(5_060_000_000)),w2;": "of one that closed\n",
    "results/0/10,q\(enqueued),f1,oattached,t\(finished),h;dog.json": "{\"line\":10}\n",
    "done/10-dog.json": "media\n",
    "done/10-dog.json.record": "{\"line\":10}\n",
    "holds/of/0/10-1": "/held/one\0/held/two",
    "results/0/11,q\(enqueued),f1,opassthrough,t\(finished),m;": "{\"line\":11}\n",
    "done/11": "read",
    "done/11.record": "{\"line\":11}\n",
    "results/0/12,q\(enqueued),a3,f1,ofallback,rhttp.status,t\(finished),c;": "{\"line\":12}\n",
    "done/12": "an output of its own\n",
    "done/12.record": "{\"line\":12}\n",
    "originals/0/12": "its original\n",
    "results/0/13,q\(enqueued),d5,s3,f1,ofallback,rqueue.poison,t\(finished),x;": "{\"line\":13}\n",
    "dead/13": "dead\n",
    "dead/13.record": "{\"line\":13}\n",
    "results/0/14,q\(enqueued),f1,ofallback,rdeadline,t\(finished),h;taken.json": "{\"line\":14}\n",
    "holds/of/0/14-1": "/held/taken",
    "holds/freed/3-2": "/held/freed\0/held/two",
    "holds/by/0011/10-1": "",
    "keys/03/\(keyDigest)": "",
    "tmp/0": "half",
    "new/waiting.json": "{\"waiting\":1}",
    "refused/long": "x",
    "ready/10/notes": "somebody's own",
  ]

  func write(to path: String) throws {
    for folder in ["new", "tmp", "ready", "later", "suspects", "leased", "done", "dead", "results"] {
      try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
    }
    for (name, text) in files {
      let file = "\(path)/\(name)"
      try FileManager.default.createDirectory(
        atPath: String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(filePath: file))
    }
  }
}
