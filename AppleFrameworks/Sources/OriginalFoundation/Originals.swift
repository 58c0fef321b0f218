import Foundation
import FoundationNetworking

// Foundation's own members, for the shadows in Groundwork: within a module that declares a shadow,
// its name means the shadow.

package func originalDownloadTask(
  _ session: URLSession, _ request: URLRequest, _ handler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
) -> URLSessionDownloadTask {
  session.downloadTask(with: request, completionHandler: handler)
}

package func originalDataTask(
  _ session: URLSession, _ request: URLRequest, _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
) -> URLSessionDataTask {
  session.dataTask(with: request, completionHandler: handler)
}

package func originalUploadTask(
  _ session: URLSession, _ request: URLRequest, _ body: Data?, _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
) -> URLSessionUploadTask {
  session.uploadTask(with: request, from: body, completionHandler: handler)
}

package func originalData(
  _ session: URLSession, _ request: URLRequest, _ delegate: (any URLSessionTaskDelegate)?
) async throws -> (Data, URLResponse) {
  try await session.data(for: request, delegate: delegate)
}

package func originalDownload(
  _ session: URLSession, _ request: URLRequest, _ delegate: (any URLSessionTaskDelegate)?
) async throws -> (URL, URLResponse) {
  try await session.download(for: request, delegate: delegate)
}

package func originalUpload(
  _ session: URLSession, _ request: URLRequest, _ body: Data, _ delegate: (any URLSessionTaskDelegate)?
) async throws -> (Data, URLResponse) {
  try await session.upload(for: request, from: body, delegate: delegate)
}

package func originalFolders(_ folder: FileManager.SearchPathDirectory, _ domains: FileManager.SearchPathDomainMask) -> [URL] {
  FileManager.default.urls(for: folder, in: domains)
}

package func originalSuggestedFilename(_ response: URLResponse) -> String? {
  response.suggestedFilename
}

package func originalDownloadTask(_ session: URLSession, _ request: URLRequest) -> URLSessionDownloadTask {
  session.downloadTask(with: request)
}

package func originalResume(_ task: URLSessionTask) {
  task.resume()
}

package func originalCancel(_ task: URLSessionTask) {
  task.cancel()
}

extension URLSession {
  package convenience init(
    original configuration: URLSessionConfiguration, _ delegate: (any URLSessionDelegate)?, _ queue: OperationQueue?
  ) {
    self.init(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }
}

extension UserDefaults {
  package convenience init?(originalSuite: String?) {
    self.init(suiteName: originalSuite)
  }
}
