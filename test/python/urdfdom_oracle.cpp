// SPDX-License-Identifier: Apache-2.0
// What urdfdom, the reader of ROS, makes of URDF files, in the lines of mujoco_oracle.c, at random angles and
// travels of the joints. test_import.py compiles it where Debian's liburdfdom-dev is there.
#include <urdf_parser/urdf_parser.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

struct Pose {
  urdf::Rotation q;
  urdf::Vector3 x;
};

static Pose operator*(const Pose& a, const Pose& b)
{
  urdf::Vector3 x = a.q * b.x;
  return {a.q * b.q, urdf::Vector3(a.x.x + x.x, a.x.y + x.y, a.x.z + x.z)};
}

static Pose pose_of(const urdf::Pose& p) { return {p.rotation, p.position}; }

static Pose motion_of(const urdf::Joint& j)
{
  bool slides = j.type == urdf::Joint::PRISMATIC, turns = j.type == urdf::Joint::REVOLUTE || j.type == urdf::Joint::CONTINUOUS;
  double value = slides || turns ? 4.0 * rand() / RAND_MAX - 2 : 0;
  urdf::Vector3 a = j.axis;
  double length = std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
  Pose move = {urdf::Rotation(), urdf::Vector3(0, 0, 0)};
  if (slides || turns) std::printf(": %s %.17g\n", j.name.c_str(), value);
  if (slides) move.x = urdf::Vector3(value * a.x / length, value * a.y / length, value * a.z / length);
  if (turns) {
    double s = std::sin(0.5 * value) / length;
    move.q = urdf::Rotation(s * a.x, s * a.y, s * a.z, std::cos(0.5 * value));
  }
  return move;
}

static void print_link(const urdf::Link& link, const Pose& at)
{
  double mass = 0, moment[6] = {0};
  Pose inner = {urdf::Rotation(), urdf::Vector3(0, 0, 0)};
  if (link.inertial) {
    const urdf::Inertial& i = *link.inertial;
    inner = pose_of(i.origin);
    mass = i.mass;
    double I[3][3] = {{i.ixx, i.ixy, i.ixz}, {i.ixy, i.iyy, i.iyz}, {i.ixz, i.iyz, i.izz}}, R[3][3];
    for (int k = 0; k < 3; k++) {
      urdf::Vector3 e = inner.q * urdf::Vector3(k == 0, k == 1, k == 2);
      R[0][k] = e.x, R[1][k] = e.y, R[2][k] = e.z;
    }
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int n = 0; n < 6; n++)
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) moment[n] += R[row[n]][k] * I[k][l] * R[column[n]][l];
  }
  std::printf("%s %.17g %.17g %.17g %.17g", link.name.c_str(), mass, inner.x.x, inner.x.y, inner.x.z);
  for (double m : moment) std::printf(" %.17g", m);
  std::printf(" %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", at.x.x, at.x.y, at.x.z, at.q.w, at.q.x, at.q.y, at.q.z);
  for (const auto& joint : link.child_joints)
    for (const auto& child : link.child_links)
      if (child->parent_joint == joint) print_link(*child, at * pose_of(joint->parent_to_joint_origin_transform) * motion_of(*joint));
}

int main(int argc, char** argv)
{
  for (int i = 1; i < argc; i++) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    auto model = urdf::parseURDF(text.str());
    if (!model) {
      std::printf("! not read\n");
      continue;
    }
    std::printf("= %zu\n", model->links_.size());
    print_link(*model->getRoot(), {urdf::Rotation(), urdf::Vector3(0, 0, 0)});
  }
}
