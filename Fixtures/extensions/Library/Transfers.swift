// Fetches each URL in every way that URLSession has, and answers with the errors' codes, or the numbers of bytes.
import Foundation
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    let urls = (request.content.userInfo["urls"] as? [String] ?? []).compactMap { URL(string: $0) }
    Task {
      var lines: [String] = []
      for url in urls { lines.append(await line(url)) }
      content.body = lines.joined(separator: "\n")
      contentHandler(content)
    }
  }

  private func line(_ url: URL) async -> String {
    let configuration = URLSessionConfiguration.ephemeral
    if url.path.hasPrefix("/stall") { configuration.timeoutIntervalForRequest = 1 }
    let session = URLSession(configuration: configuration)
    defer { session.finishTasksAndInvalidate() }
    var results: [String] = []
    results.append(
      await withCheckedContinuation { continuation in
        session.downloadTask(with: url) { file, _, error in
          let size = file.flatMap { try? Data(contentsOf: $0).count }
          continuation.resume(returning: error.map(Self.code) ?? size.map { "\($0)" } ?? "no file")
        }.resume()
      })
    // One way is enough where each waits for a second.
    guard !url.path.hasPrefix("/stall") else { return results[0] }
    results.append(
      await withCheckedContinuation { continuation in
        session.dataTask(with: url) { data, _, error in
          continuation.resume(returning: error.map(Self.code) ?? "\(data?.count ?? -1)")
        }.resume()
      })
    await results.append(result { try await session.data(from: url).0.count })
    await results.append(
      result {
        let file = try await session.download(from: url).0
        defer { try? FileManager.default.removeItem(at: file) }
        return try Data(contentsOf: file).count
      })
    await results.append(
      result {
        var count = 0
        for try await _ in try await session.bytes(from: url).0 { count += 1 }
        return count
      })
    await results.append(
      result {
        var count = 0
        for try await line in try await session.bytes(for: URLRequest(url: url)).0.lines { count += line.utf8.count }
        return count
      })
    return results.joined(separator: " ")
  }

  private func result(_ body: () async throws -> Int) async -> String {
    do {
      return "\(try await body())"
    } catch {
      return Self.code(error)
    }
  }

  private static func code(_ error: any Error) -> String {
    guard let error = error as? URLError else { return "\(error)" }
    return "\((error as NSError).code)"
  }
}
