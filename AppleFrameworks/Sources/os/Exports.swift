// A Swift module over the clang module of the same name, whose submodule makes `import os.log` work.
@_exported import OSLog
