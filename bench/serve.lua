-- serve.lua - requests for wrk: one of the lines of a file at random.
--   METHOD TAB PATH [TAB CONTENT-TYPE TAB BODY]      wrk ... -s serve.lua URL -- FILE [SEED]
local requests = {}

function init(args)
  for line in io.lines(args[1]) do
    local method, path, kind, body = line:match("^(%S+)\t([^\t]+)\t?([^\t]*)\t?(.*)$")
    local headers = kind ~= "" and { ["Content-Type"] = kind } or nil
    requests[#requests + 1] = wrk.format(method, path, headers, body ~= "" and body or nil)
  end
  math.randomseed(tonumber(args[2] or "1"))
end

function request()
  return requests[math.random(#requests)]
end
