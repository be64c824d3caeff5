// SPDX-License-Identifier: Apache-2.0
#include "cli/trajectory.h"
#include "cli/out.h"
#include "tribo/bulk.h"
#include "tribo/tools/array.h"

static void put_step(tbOut* out, const tbWorld* world)
{
  tb_out_int(out, tb_world_step_count(world));
  tb_out_text(out, ",");
  tb_out_double(out, tb_world_time(world));
}

static void put_numbers(tbOut* out, const double* values, int count)
{
  for (int i = 0; i < count; i++) {
    tb_out_text(out, ",");
    tb_out_double(out, values[i]);
  }
}

static void put_vec3(tbOut* out, tbVec3 v) { put_numbers(out, (double[3]){v.x, v.y, v.z}, 3); }

static void put_name(tbOut* out, const tbWorld* world, tbBodyId body)
{
  tb_out_text(out, ",");
  out_csv(out, tb_body_name(world, body));
}

void trajectory_header(tbOut* out) { tb_out_text(out, "step,t,name,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n"); }

void trajectory_rows(tbOut* out, const tbWorld* world)
{
  for (int i = 0; i < tb_world_body_count(world); i++) {
    tbBodyState s = tb_body_state(world, tb_world_body_at(world, i));
    put_step(out, world);
    put_name(out, world, tb_world_body_at(world, i));
    put_vec3(out, s.position);
    put_numbers(out, (double[4]){s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z}, 4);
    put_vec3(out, s.velocity);
    put_vec3(out, s.angular_velocity);
    tb_out_text(out, "\n");
  }
}

void contacts_header(tbOut* out)
{
  tb_out_text(out, "step,t,a,b,px,py,pz,nx,ny,nz,gap,ln,lt,lb,un,ut,ub,state,tx,ty,tz\n");
}

void contacts_rows(tbOut* out, const tbWorld* world)
{
  static const char* const states[] = {
      [TB_CONTACT_OPEN] = ",open", [TB_CONTACT_STICK] = ",stick", [TB_CONTACT_SLIP] = ",slip"};
  for (int i = 0; i < tb_world_contact_count(world); i++) {
    tbContactView c = tb_world_contact(world, i);
    put_step(out, world);
    put_name(out, world, c.a);
    put_name(out, world, c.b);
    put_vec3(out, c.position);
    put_vec3(out, c.normal);
    put_numbers(out, &c.gap, 1);
    put_numbers(out, c.impulse, 3);
    put_numbers(out, c.velocity, 3);
    tb_out_text(out, states[c.state]);
    put_vec3(out, c.tangent);
    tb_out_text(out, "\n");
  }
}

void joints_header(tbOut* out)
{
  tb_out_text(out, "step,t,joint,coordinate,speed,effort,fx,fy,fz,tx,ty,tz\n");
}

// By its name, or its number.
static void put_joint(tbOut* out, const char* name, int place)
{
  tb_out_text(out, ",");
  if (name) out_csv(out, name);
  else tb_out_int(out, place);
}

void joints_rows(tbOut* out, const tbWorld* world)
{
  for (int i = 0; i < tb_world_joint_count(world); i++) {
    tbJointId id = tb_world_joint_at(world, i);
    tbJointState s = tb_joint_state(world, id);
    put_step(out, world);
    put_joint(out, tb_joint_def(world, id).name, i);
    put_numbers(out, (double[3]){s.coordinate, s.speed, s.drive}, 3);
    put_vec3(out, s.force);
    put_vec3(out, s.torque);
    tb_out_text(out, "\n");
  }
}

void forces_header(tbOut* out) { tb_out_text(out, "step,t,name,fx,fy,fz,tx,ty,tz,contacts\n"); }

tbStatus forces_rows(tbContext* ctx, tbOut* out, const tbWorld* world, double dt)
{
  size_t n = (size_t)tb_world_body_count(world);
  tbArray sums = TB_ARRAY(double), counts = TB_ARRAY(int);
  tbStatus status = tb_array_push(ctx, &sums, NULL, 6 * n + 1);
  if (status == TB_OK) status = tb_array_push(ctx, &counts, NULL, n + 1);
  double* sum = sums.data;
  const int* count = counts.data;
  if (status == TB_OK) tb_world_get_contact_sums(world, sum, sum + 3 * n, counts.data);
  for (size_t i = 0; status == TB_OK && i < n; i++) {
    if (count[i] == 0) continue;
    for (int k = 0; k < 3; k++) sum[3 * i + k] /= dt, sum[3 * (n + i) + k] /= dt;
    put_step(out, world);
    put_name(out, world, tb_world_body_at(world, (int)i));
    put_numbers(out, sum + 3 * i, 3);
    put_numbers(out, sum + 3 * (n + i), 3);
    tb_out_text(out, ",");
    tb_out_int(out, count[i]);
    tb_out_text(out, "\n");
  }
  tb_array_free(ctx, &sums);
  tb_array_free(ctx, &counts);
  return status;
}
