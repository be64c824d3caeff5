# Reads every frame of folders that `tribo run --export vtk` made, with VTK's own reader.
#   read_vtk.py FOLDER...
import sys
import xml.etree.ElementTree as xml
from vtkmodules.vtkCommonCore import vtkObject
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

faults = []


def read(path):
    reader = vtkXMLUnstructuredGridReader()
    reader.AddObserver("ErrorEvent", lambda caller, event: faults.append(path))
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def check(condition, what):
    if not condition:
        faults.append(what)


for folder in sys.argv[1:]:
    forces = 0
    for kind, wanted in (("bodies", ["velocity", "body"]), ("contacts", ["normal", "force", "slip", "gap", "state", "a", "b"])):
        last = None
        for entry in xml.parse(f"{folder}/{kind}.pvd").getroot().iter("DataSet"):
            path, time = f"{folder}/{entry.get('file')}", float(entry.get("timestep"))
            grid = read(path)
            data = grid.GetPointData()
            check(last is None or time > last, f"{path}: times do not increase")
            last = time
            check(grid.GetFieldData().GetArray("TimeValue").GetValue(0) == time, f"{path}: another time")
            names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
            check(names in (wanted, [name for name in wanted if name != "slip"]), f"{path}: other arrays")
            of_cells = grid.GetCellData().GetArray("body")
            check(kind == "contacts" or of_cells.GetNumberOfTuples() == grid.GetNumberOfCells(), f"{path}: cells of no body")
            check(kind == "contacts" or grid.GetNumberOfCells() > 0, f"{path}: nothing in it")
            for i in range(data.GetNumberOfArrays()):
                check(data.GetArray(i).GetNumberOfTuples() == grid.GetNumberOfPoints(), f"{path}: {names[i]} is short")
            for i in range(grid.GetNumberOfCells()):
                cell = grid.GetCell(i)
                check(cell.GetNumberOfPoints() == {1: 1, 5: 3, 10: 4}.get(cell.GetCellType()), f"{path}: cell {i}")
            if kind == "contacts":
                forces += sum(abs(data.GetArray("force").GetComponent(i, 2)) > 0 for i in range(grid.GetNumberOfPoints()))
    print(folder, forces, "contacts with a force")
for fault in faults[:5]:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
